/** Taint of new nodes until a cloud controller manager has initialized them. */
export const uninitializedTaint = 'node.cloudprovider.kubernetes.io/uninitialized';
