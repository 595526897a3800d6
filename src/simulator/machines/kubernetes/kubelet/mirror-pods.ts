import { createHash } from 'node:crypto';
import { Nodes, type Pod, Pods } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { asJson, formatTime, isAlreadyExists, must } from '../../../../machinery/index.ts';
import type { RunningMachine } from '../../types.ts';
import { type ControlPlaneComponent, controlPlaneComponents } from '../kubeadm/names.ts';
import { readManifest } from './control-plane.ts';
import { runningStatus, startingStatus } from './pod-status.ts';

const writes = { fieldManager: 'kubelet' };
const hashAnnotation = 'kubernetes.io/config.hash';
const mirrorAnnotation = 'kubernetes.io/config.mirror';

export function isMirrorPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}

/** Publishes the static Pods of a machine in the API, with the status of their containers. */
export async function ensureMirrorPods(
  machine: RunningMachine,
  client: Client,
  nodeName: string,
  ready: ReadonlySet<ControlPlaneComponent>,
): Promise<void> {
  // A kubelet may not get Pods by name before they are bound to its node.
  const { items } = await client.list(Pods, {
    namespace: 'kube-system',
    fieldSelector: `spec.nodeName=${nodeName}`,
  });
  for (const component of controlPlaneComponents) {
    const manifest = readManifest(machine, component);
    const present = items.find(({ metadata }) => metadata.name === `${component}-${nodeName}`);
    if (manifest)
      await ensureMirrorPod(machine, client, { nodeName, manifest, present, isReady: ready.has(component) });
  }
}

interface MirrorPod {
  readonly nodeName: string;
  readonly manifest: Pod;
  readonly present: Pod | undefined;
  readonly isReady: boolean;
}

async function ensureMirrorPod(
  machine: RunningMachine,
  client: Client,
  { nodeName, manifest, present, isReady }: MirrorPod,
): Promise<void> {
  const key = { namespace: 'kube-system', name: `${manifest.metadata.name}-${nodeName}` };
  const hash = createHash('md5').update(JSON.stringify(manifest)).digest('hex');
  let pod = present;
  if (pod && pod.metadata.annotations?.[mirrorAnnotation] !== hash) {
    await client.delete(Pods, key, { gracePeriodSeconds: 0 });
    pod = undefined;
  }
  pod ??= await createMirrorPod(machine, client, { nodeName, manifest, hash });
  const isShown = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  if (pod.status?.phase !== undefined && pod.status.hostIP !== undefined && isShown === isReady) return;
  const address = machine.addresses[0] ?? '';
  const now = machine.clock.now();
  const status = isReady
    ? runningStatus(pod, { hostAddress: address, podAddress: address }, now)
    : startingStatus(pod, address, now);
  const patch = { status: asJson(status) };
  await client.patch(Pods, key, 'merge', patch, { ...writes, subresource: 'status' });
}

async function createMirrorPod(
  machine: RunningMachine,
  client: Client,
  { nodeName, manifest, hash }: { nodeName: string; manifest: Pod; hash: string },
): Promise<Pod> {
  const node = await client.get(Nodes, { name: nodeName });
  const pod: Pod = {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      name: `${manifest.metadata.name}-${nodeName}`,
      annotations: {
        ...manifest.metadata.annotations,
        [hashAnnotation]: hash,
        [mirrorAnnotation]: hash,
        'kubernetes.io/config.seen': formatTime(machine.clock.now()),
        'kubernetes.io/config.source': 'file',
      },
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Node',
          name: nodeName,
          uid: must(node.metadata.uid, 'metadata.uid'),
          controller: true,
        },
      ],
    },
    spec: {
      ...manifest.spec,
      nodeName,
      tolerations: [{ effect: 'NoExecute', operator: 'Exists' }],
    },
  };
  try {
    return await client.create(Pods, pod, writes);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return await client.get(Pods, { namespace: 'kube-system', name: must(pod.metadata.name, 'metadata.name') });
  }
}
