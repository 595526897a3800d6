/** Selects tests by regular expressions on their full names, like ginkgo. */
export interface Selection {
  readonly focus: readonly string[];
  /** tests matched by `focus` that cannot run here, with the reason */
  readonly leftOut: readonly { readonly pattern: string; readonly why: string }[];
}

/**
 * End-to-end tests of Kubernetes for the API, its controllers and its scheduler. None of them depends on a program
 * inside a container.
 */
export const withoutContainers: Selection = {
  focus: [
    String.raw`\[sig-(api-machinery|auth|instrumentation)\].*\[Conformance\]`,
    String.raw`\[sig-api-machinery\] CRDValidationRatcheting`,
    String.raw`\[sig-apps\] (ControllerRevision|CronJob|Deployment|DisruptionController|Job|ReplicaSet|ReplicationController|TTLAfterFinished)`,
    String.raw`\[sig-apps\] StatefulSet.*(list, patch and delete|Status endpoints|adopt matching)`,
    String.raw`\[sig-node\] (ConfigMap should (fail|run)|Lease|Node Lifecycle|PodTemplates|Pods Extended|RuntimeClass)`,
    String.raw`\[sig-node\] Pods should (allow active|be submitted|be updated|delete a collection|get a host|patch a pod|run through)`,
    String.raw`\[sig-node\] (Secrets should (fail|patch)|Sysctls.*reject|Variable Expansion (should fail|allow almost))`,
    String.raw`\[sig-network\] (EndpointSlice|Ingress|ServiceCIDR|Services should (complete|delete a coll|find|test the life))`,
    String.raw`\[sig-scheduling\] (LimitRange|SchedulerPredicates|SchedulerPreemption)`,
    String.raw`\[sig-storage\] (CSINodes|CSIInlineVolumes|CSIStorageCapacity|VolumeAttachment).*\[Conformance\]`,
    String.raw`\[sig-storage\] (ConfigMap|Secrets) should be immutable`,
    String.raw`\[sig-storage\] (PersistentVolumes CSI|StorageClasses CSI).*\[Conformance\]`,
  ],
  leftOut: [
    {
      pattern: 'AdmissionWebhook|Aggregator|ConversionWebhook|CustomResourceFieldSelectors',
      why: 'a server in a Pod answers the API server',
    },
    {
      pattern: 'should mount|OIDC discovery|serve a basic image|in multiple EndpointSlices|allow almost all printable',
      why: 'a program in a Pod reports what it sees',
    },
    {
      pattern: 'CronJob should (not schedule|remove|be able|delete)|recreate pods only after they have failed',
      why: 'a program in a Pod has to end in a certain way, or to continue when it is asked to end',
    },
    {
      pattern: 'evicted pods|StatefulSet.*adopt|rolling update|RecreateDeployment.*image|iterative rollouts',
      why: 'a program in a Pod answers probes',
    },
    { pattern: 'proportional scaling', why: 'an image that cannot be pulled' },
    { pattern: 'RuntimeHandler', why: 'a container runtime with a handler of that name' },
    { pattern: String.raw`\[Slow\]|\[Disruptive\]|issue 500`, why: 'takes long, or breaks the cluster for the others' },
    {
      pattern: 'PodTopologySpread|2 nodes|Daemon set|non-existent/illegal nodes',
      why: 'more than one node',
    },
    { pattern: String.raw`\[Feature:OffByDefault\]|\[Alpha\]`, why: 'switched off by default upstream too' },
  ],
};
