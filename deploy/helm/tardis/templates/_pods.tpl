{{- /* What all pods have in common. Service links are off: in a release named "tm" they would be read as settings. */}}
{{- define "tardis.podSpec" -}}
serviceAccountName: {{ include "tardis.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tardis.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* Takes root and settings: the text of the pod's ConfigMap, so that a new text makes new pods. */}}
{{- define "tardis.podAnnotations" -}}
checksum/settings: {{ .settings | sha256sum }}
{{- with .root.Values.pods.annotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Python looks for a folder for temporary files at start-up, and the root is read-only. */}}
{{- define "tardis.tmpVolume" -}}
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- end }}
{{- define "tardis.tmpMount" -}}
- name: tmp
  mountPath: /tmp
{{- end }}
