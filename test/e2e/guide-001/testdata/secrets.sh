# Create namespace
kubectl create namespace $CLUSTER_NAMESPACE

# Create OpenStack credentials secret
kubectl create secret -n $CLUSTER_NAMESPACE generic openstack \
  --from-file=clouds.yaml=$OS_CLIENT_CONFIG_FILE

# Create clouds.yaml secret for workload cluster
kubectl create secret -n kube-system generic clouds-yaml \
  --from-file=clouds.yaml=$OS_CLIENT_CONFIG_FILE \
  --dry-run=client -o yaml > clouds-yaml-secret

kubectl create -n $CLUSTER_NAMESPACE secret generic clouds-yaml \
  --from-file=clouds-yaml-secret \
  --type=addons.cluster.x-k8s.io/resource-set
