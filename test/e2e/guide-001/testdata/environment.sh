export CLUSTER_NAMESPACE=cluster
export CLUSTER_NAME=my-hosted-cluster
export CLUSTERSTACK_NAMESPACE=cluster
export CLUSTERSTACK_VERSION=v1
export OS_CLIENT_CONFIG_FILE=${PWD}/clouds.yaml
