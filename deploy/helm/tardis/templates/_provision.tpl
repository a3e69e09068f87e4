{{- /* Takes root and configMap. The streams have to be there before the first pack; making them again does no harm. */}}
{{- define "tardis.provision" -}}
{{- $login := include "tardis.queueLogin" .root | fromJson -}}
- name: provision
  image: {{ include "tardis.image" (dict "root" .root "service" "cli" "override" .root.Values.provision.image) }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: [tardis, provision]
  envFrom:
    - configMapRef:
        name: {{ .configMap }}
  {{- with include "tardis.loginVariables" $login }}
  env:
    {{- . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "tardis.containerSecurity" .root | nindent 4 }}
  resources:
    {{- toYaml .root.Values.provision.resources | nindent 4 }}
  volumeMounts:
    {{- include "tardis.tmpMount" .root | nindent 4 }}
    {{- include "tardis.loginMount" $login | nindent 4 }}
{{- end }}
