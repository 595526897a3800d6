/** A node carries it until a cloud controller manager has looked at its machine. */
export const uninitializedTaint = 'node.cloudprovider.kubernetes.io/uninitialized';
