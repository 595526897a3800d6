/** A minimal network plugin. Guides let the reader install one, and nodes are not Ready without it. */
export const networkPlugin = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: kube-flannel-ds
  namespace: kube-system
spec:
  selector:
    matchLabels: {app: flannel}
  template:
    metadata:
      labels: {app: flannel}
    spec:
      hostNetwork: true
      tolerations: [{operator: Exists}]
      containers:
        - name: kube-flannel
          image: ghcr.io/flannel-io/flannel:v0.27.4
          command: [/opt/bin/flanneld, --ip-masq, --kube-subnet-mgr]
`;
