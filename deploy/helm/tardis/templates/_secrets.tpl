{{- /*
A login at NATS, three parts of a pod that belong together. All take login, prefix (HANDOFF, NATS) and name (of the volume).
Secrets are files and not variables, because every child process and crash report would carry those along.
*/}}
{{- define "tardis.loginVariables" -}}
{{- with .login.existingSecret }}
{{- $folder := printf "/run/secrets/tardis/%s" $.name }}
{{- if eq $.login.method "password" -}}
- name: TM_{{ $.prefix }}_USER
  valueFrom:
    secretKeyRef: {name: {{ . }}, key: user}
- name: TM_{{ $.prefix }}_PASS_FILE
  value: {{ $folder }}/pass
{{- else if eq $.login.method "token" -}}
- name: TM_{{ $.prefix }}_TOKEN_FILE
  value: {{ $folder }}/token
{{- else -}}
- name: TM_{{ $.prefix }}_CREDS
  value: {{ $folder }}/creds
{{- end }}
{{- end }}
{{- end }}

{{- define "tardis.loginMount" -}}
{{- if .login.existingSecret -}}
- name: {{ .name }}
  mountPath: /run/secrets/tardis/{{ .name }}
  readOnly: true
{{- end }}
{{- end }}

{{- define "tardis.loginVolume" -}}
{{- with .login.existingSecret }}
{{- $key := get (dict "password" "pass" "token" "token" "creds" "creds") $.login.method -}}
- name: {{ $.name }}
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items: [{key: {{ $key }}, path: {{ $key }}}]
{{- end }}
{{- end }}

{{- /* The login at the queue, as the three above take it. */}}
{{- define "tardis.queueLogin" -}}
{{- dict "login" .Values.queue.login "prefix" "HANDOFF" "name" "queue-login" | toJson }}
{{- end }}
