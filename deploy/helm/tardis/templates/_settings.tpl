{{- /* Takes prefix and settings: {maxBatchSize: 5} with prefix NATS becomes TM_NATS_MAX_BATCH_SIZE: "5". */}}
{{- define "tardis.variables" -}}
{{- range $name, $value := .settings }}
{{- with include "tardis.plain" $value }}
{{ list "TM" $.prefix ($name | snakecase | upper) | compact | join "_" }}: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Numbers go through JSON, since Go would print a million as 1e+06. */}}
{{- define "tardis.plain" -}}
{{- if kindIs "slice" . }}{{ join "," . }}{{ else if kindIs "string" . }}{{ . }}{{ else if not (kindIs "invalid" .) }}{{ toJson . }}{{ end }}
{{- end }}

{{- /* Names of the enabled backends, separated by commas. */}}
{{- define "tardis.backends" -}}
{{- $names := list }}
{{- range $name, $backend := .Values.backends }}
{{- if $backend.enabled }}{{ $names = append $names (kebabcase $name) }}{{ end }}
{{- end }}
{{- join "," $names }}
{{- end }}

{{- /* Takes root and backends. */}}
{{- define "tardis.queueSettings" -}}
{{- include "tardis.variables" (dict "prefix" "HANDOFF" "settings" (pick .root.Values.queue "url" "lanes" "streamMaxBytes")) }}
TM_HANDOFF_BACKENDS: {{ .backends | quote }}
{{- end }}

{{- define "tardis.gatewaySettings" -}}
{{- include "tardis.variables" (dict "prefix" "" "settings" .Values.settings) }}
{{- include "tardis.variables" (dict "prefix" "" "settings" .Values.gateway.settings) }}
TM_PORT: "8000"
TM_CACHE_DIR: /var/cache/tardis
{{- if .Values.demo.enabled }}
TM_API_URL: http://{{ include "tardis.fullname" . }}-simulator:9000/v1
{{- end }}
{{- with include "tardis.backends" . }}
{{- include "tardis.queueSettings" (dict "root" $ "backends" .) }}
TM_HANDOFF_SPOOL_DIR: /var/lib/tardis/spool
TM_HANDOFF_SPOOL_FSYNC: {{ $.Values.gateway.spool.fsync }}
{{- end }}
{{- end }}

{{- /* Takes root, name and backend. */}}
{{- define "tardis.publisherSettings" -}}
{{- include "tardis.variables" (dict "prefix" "" "settings" .root.Values.settings) }}
{{- include "tardis.queueSettings" (dict "root" .root "backends" (kebabcase .name)) }}
{{- include "tardis.variables" (dict "prefix" (.name | snakecase | upper) "settings" .backend.settings) }}
TM_PUBLISHER_PORT: "8080"
{{- end }}

{{- define "tardis.simulatorSettings" -}}
{{- include "tardis.variables" (dict "prefix" "" "settings" .Values.settings) }}
{{- include "tardis.variables" (dict "prefix" "SIMULATOR" "settings" .Values.demo.settings) }}
TM_SIMULATOR_HOST: "0.0.0.0"
TM_SIMULATOR_PORT: "9000"
TM_SIMULATOR_DATA_DIR: /var/lib/tardis/simulator
{{- end }}
