{{- /* The class is named after the release; its templates add what they are for. */ -}}
{{- define "class" -}}
{{ .Release.Name }}-{{ .Chart.Version }}
{{- end -}}
