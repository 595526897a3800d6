# Install the latest version
kubectl apply -f https://github.com/teutonet/cluster-api-provider-hosted-control-plane/releases/latest/download/control-plane-components.yaml

# Or install a specific version (recommended for production)
kubectl apply -f https://github.com/teutonet/cluster-api-provider-hosted-control-plane/releases/download/v0.1.0/control-plane-components.yaml

# Verify installation
kubectl get pods -n capi-system | grep hosted-control-plane
kubectl get crd hostedcontrolplanes.controlplane.cluster.x-k8s.io
kubectl get crd hostedcontrolplanetemplates.controlplane.cluster.x-k8s.io

# Set required environment variables
export CLUSTER_TOPOLOGY=true
export EXP_CLUSTER_RESOURCE_SET=true
export EXP_RUNTIME_SDK=true

# Initialize Cluster API with OpenStack provider
clusterctl init --infrastructure openstack

# Wait for deployments to be ready
kubectl -n capi-system rollout status deployment --timeout=5m
kubectl -n capo-system rollout status deployment --timeout=5m

# Install CSO
helm upgrade -i cso \
  -n cso-system \
  --create-namespace \
  oci://registry.scs.community/cluster-stacks/cso

# Wait for CSO to be ready
kubectl -n cso-system rollout status deployment cso-controller-manager

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

# Create ClusterResourceSet
cat <<EOF | kubectl apply -f -
apiVersion: addons.cluster.x-k8s.io/v1beta1
kind: ClusterResourceSet
metadata:
  name: clouds-yaml
  namespace: $CLUSTER_NAMESPACE
spec:
  strategy: "Reconcile"
  clusterSelector:
    matchLabels:
      managed-secret: clouds-yaml
  resources:
    - name: clouds-yaml
      kind: Secret
EOF

# Deploy ClusterStack Resource
cat <<EOF | kubectl apply -f -
apiVersion: clusterstack.x-k8s.io/v1alpha1
kind: ClusterStack
metadata:
  name: openstack
  namespace: $CLUSTERSTACK_NAMESPACE
spec:
  provider: openstack
  name: hosted-control-plane
  kubernetesVersion: "1.33"
  channel: stable
  autoSubscribe: false
  noProvider: true
  versions:
    - $CLUSTERSTACK_VERSION
EOF

# Create Cluster
cat <<EOF | kubectl apply -f -
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata:
  name: $CLUSTER_NAME
  namespace: $CLUSTER_NAMESPACE
  labels:
    managed-secret: clouds-yaml
spec:
  clusterNetwork:
    pods:
      cidrBlocks:
      - "172.16.0.0/16"
    serviceDomain: cluster.local
    services:
      cidrBlocks:
      - "10.96.0.0/12"
  topology:
    class: openstack-hosted-control-plane-1-33-$CLUSTERSTACK_VERSION
    classNamespace: $CLUSTERSTACK_NAMESPACE
    controlPlane:
      replicas: 3
    version: v1.33.6
    variables:
      - name: controlPlaneReplicas
        value: 3
      - name: workerFlavor
        value: "SCS-2V-4"
      - name: workerRootDisk
        value: 25
      - name: imageName
        value: "ubuntu-capi-image"
      - name: imageAddVersion
        value: true
      - name: networkExternalID
        value: "YOUR-EXTERNAL-NETWORK-ID"
      - name: nodeCIDR
        value: "10.8.0.0/20"
      - name: dnsNameservers
        value: ["9.9.9.9", "149.112.112.112"]
      - name: identityRef
        value:
          name: "openstack"
          cloudName: "openstack"
    workers:
      machineDeployments:
        - class: default-worker
          name: md-0
          replicas: 2
EOF

# Watch cluster status
kubectl get cluster -n $CLUSTER_NAMESPACE -w

# Watch control plane (running in management cluster)
kubectl get hostedcontrolplane -n $CLUSTER_NAMESPACE

# Watch control plane pods
kubectl get pods -n $CLUSTER_NAMESPACE -l cluster.x-k8s.io/cluster-name=$CLUSTER_NAME

# Watch worker machines
kubectl get machine -n $CLUSTER_NAMESPACE

# Get kubeconfig for workload cluster
clusterctl get kubeconfig -n $CLUSTER_NAMESPACE $CLUSTER_NAME > $CLUSTER_NAME-kubeconfig

# Verify worker nodes are ready
kubectl --kubeconfig $CLUSTER_NAME-kubeconfig get nodes

# Check control plane logs
kubectl logs -n $CLUSTER_NAMESPACE -l cluster.x-k8s.io/cluster-name=$CLUSTER_NAME -c kube-apiserver
kubectl logs -n $CLUSTER_NAMESPACE -l cluster.x-k8s.io/cluster-name=$CLUSTER_NAME -c kube-controller-manager
kubectl logs -n $CLUSTER_NAMESPACE -l cluster.x-k8s.io/cluster-name=$CLUSTER_NAME -c kube-scheduler

# Get kubeconfig
clusterctl get kubeconfig -n $CLUSTER_NAMESPACE $CLUSTER_NAME > /tmp/kubeconfig

# View worker nodes
kubectl --kubeconfig /tmp/kubeconfig get nodes

# View worker pods
kubectl --kubeconfig /tmp/kubeconfig get pods -A

# Verify CNI (Cilium)
kubectl --kubeconfig /tmp/kubeconfig get pods -n kube-system -l k8s-app=cilium

# Verify CCM
kubectl --kubeconfig /tmp/kubeconfig get pods -n kube-system -l app=openstack-cloud-controller-manager

# Verify CSI
kubectl --kubeconfig /tmp/kubeconfig get pods -n kube-system -l app=cinder-csi

# Verify metrics-server
kubectl --kubeconfig /tmp/kubeconfig top nodes

# Verify the credentials
kubectl --kubeconfig /tmp/kubeconfig get secret -n kube-system clouds-yaml

# Check HostedControlPlane events
kubectl describe hostedcontrolplane -n $CLUSTER_NAMESPACE

# Check ClusterResourceSet applied
kubectl get clusterresourceset -n $CLUSTER_NAMESPACE

# Update cluster version
kubectl patch cluster -n $CLUSTER_NAMESPACE $CLUSTER_NAME --type merge -p '{"spec":{"topology":{"version":"v1.32.8"}}}'

# Monitor upgrade
kubectl get cluster -n $CLUSTER_NAMESPACE -w

# Update control plane replicas
kubectl patch cluster -n $CLUSTER_NAMESPACE $CLUSTER_NAME --type merge -p '{"spec":{"topology":{"variables":[{"name":"controlPlaneReplicas","value":5}]}}}'

# Monitor scaling of the control plane
kubectl get hostedcontrolplane -n $CLUSTER_NAMESPACE -w

# Update worker replicas
kubectl patch cluster -n $CLUSTER_NAMESPACE $CLUSTER_NAME --type merge -p '{"spec":{"topology":{"workers":{"machineDeployments":[{"class":"default-worker","name":"md-0","replicas":5}]}}}}'

# Monitor scaling of workers
kubectl get machines -n $CLUSTER_NAMESPACE -w

# Delete cluster resource (will delete all associated resources)
kubectl delete cluster -n $CLUSTER_NAMESPACE $CLUSTER_NAME

# Monitor deletion
kubectl get cluster -n $CLUSTER_NAMESPACE -w

# Verify OpenStack resources are cleaned up
openstack server list
openstack network list
