{{- /* Short enough that the longest suffix, -publisher-event-hubs, still fits into 63 characters. */}}
{{- define "tardis.fullname" -}}
{{- $name := contains .Chart.Name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) -}}
{{- $name | trunc 42 | trimSuffix "-" -}}
{{- end }}

{{- define "tardis.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "tardis.fullname" .) "default") -}}
{{- end }}

{{- /* Takes root and component. What selects pods can never change, so no version is in it. */}}
{{- define "tardis.selectorLabels" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tardis.labels" -}}
{{ include "tardis.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: tardis
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* Takes root, service and override. */}}
{{- define "tardis.image" -}}
{{- $image := .root.Values.image -}}
{{- $made := printf "tardis-%s:%s" .service ($image.tag | default .root.Chart.AppVersion) -}}
{{- .override | default (list $image.registry $made | compact | join "/") -}}
{{- end }}
