import { type KubeObject, must } from '../../machinery/index.ts';
import { claimNames, configMapNames, mirrorAnnotation, type PodSpec, secretNames } from '../pods/pod-spec.ts';
import type { NodeRelatedKind, NodeRelations } from './node-authorizer.ts';

interface PodObject extends KubeObject {
  spec?: PodSpec;
  status?: { resourceClaimStatuses?: { resourceClaimName?: string }[] };
}

interface PersistentVolumeObject extends KubeObject {
  spec?: {
    claimRef?: { namespace?: string; name?: string };
    csi?: Record<string, { name?: string; namespace?: string } | undefined>;
  };
}

interface VolumeAttachmentObject extends KubeObject {
  spec?: { nodeName?: string };
}

const key = (kind: NodeRelatedKind, namespace: string, name: string): string => `${kind}/${namespace}/${name}`;

/** Returns keys of the secrets, config maps, claims and accounts that a pod refers to. */
function referencesOf(pod: PodObject): Set<string> {
  const namespace = pod.metadata.namespace ?? '';
  const found = new Set<string>([key('pod', namespace, pod.metadata.name ?? '')]);
  const add = (kind: NodeRelatedKind, name: string | undefined): void => {
    if (name !== undefined && name !== '') found.add(key(kind, namespace, name));
  };
  // The kubelet writes mirrors of static pods itself, so their references must not grant access.
  if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return found;
  const { spec = {} } = pod;
  add('serviceaccount', spec.serviceAccountName);
  for (const name of secretNames(spec)) add('secret', name);
  for (const name of configMapNames(spec)) add('configmap', name);
  for (const name of claimNames(pod.metadata.name ?? '', spec)) add('persistentvolumeclaim', name);
  for (const { resourceClaimName } of spec.resourceClaims ?? []) add('resourceclaim', resourceClaimName);
  for (const { resourceClaimName } of pod.status?.resourceClaimStatuses ?? []) add('resourceclaim', resourceClaimName);
  return found;
}

interface BoundPod {
  node: string;
  references: Set<string>;
}

/**
 * Tracks which node may read which objects, based on bound pods, the volumes of their claims, and attachments. The
 * owner passes in every change of these kinds.
 */
export class NodeRelationIndex implements NodeRelations {
  readonly #pods = new Map<string, BoundPod>();
  /** object -> node -> number of pods on the node that use the object */
  readonly #users = new Map<string, Map<string, number>>();
  /** volume -> claim */
  readonly #claims = new Map<string, string>();
  /** secret of a volume driver -> volumes */
  readonly #volumeSecrets = new Map<string, Set<string>>();
  /** attachment -> node */
  readonly #attachments = new Map<string, string>();

  related(node: string, kind: NodeRelatedKind, namespace: string, name: string): boolean {
    switch (kind) {
      case 'volumeattachment':
        return this.#attachments.get(name) === node;
      case 'persistentvolume':
        return this.#usesVolume(node, name);
      case 'secret': {
        if (this.#uses(node, key(kind, namespace, name))) return true;
        const volumes = this.#volumeSecrets.get(key(kind, namespace, name));
        return volumes !== undefined && [...volumes].some((volume) => this.#usesVolume(node, volume));
      }
      default:
        return this.#uses(node, key(kind, namespace, name));
    }
  }

  setPod(pod: PodObject): void {
    const namespace = pod.metadata.namespace ?? '';
    const name = pod.metadata.name ?? '';
    this.deletePod(namespace, name);
    const node = pod.spec?.nodeName ?? '';
    if (node === '') return;
    const references = referencesOf(pod);
    this.#pods.set(`${namespace}/${name}`, { node, references });
    for (const reference of references) {
      let users = this.#users.get(reference);
      if (users === undefined) {
        users = new Map();
        this.#users.set(reference, users);
      }
      users.set(node, (users.get(node) ?? 0) + 1);
    }
  }

  deletePod(namespace: string, name: string): void {
    const pod = this.#pods.get(`${namespace}/${name}`);
    if (pod === undefined) return;
    this.#pods.delete(`${namespace}/${name}`);
    for (const reference of pod.references) {
      const users = must(this.#users.get(reference), 'users.get(reference)');
      const left = must(users.get(pod.node), 'users.get(pod.node)') - 1;
      if (left > 0) users.set(pod.node, left);
      else users.delete(pod.node);
      if (users.size === 0) this.#users.delete(reference);
    }
  }

  setPersistentVolume(volume: PersistentVolumeObject): void {
    const name = volume.metadata.name ?? '';
    this.deletePersistentVolume(name);
    const { claimRef, csi = {} } = volume.spec ?? {};
    if (claimRef?.name === undefined) return;
    this.#claims.set(name, key('persistentvolumeclaim', claimRef.namespace ?? '', claimRef.name));
    for (const [field, reference] of Object.entries(csi)) {
      if (!field.endsWith('SecretRef') || field.startsWith('controller') || reference?.name === undefined) continue;
      const secret = key('secret', reference.namespace ?? '', reference.name);
      this.#volumeSecrets.set(secret, (this.#volumeSecrets.get(secret) ?? new Set()).add(name));
    }
  }

  deletePersistentVolume(name: string): void {
    if (!this.#claims.delete(name)) return;
    for (const [secret, volumes] of this.#volumeSecrets) {
      if (volumes.delete(name) && volumes.size === 0) this.#volumeSecrets.delete(secret);
    }
  }

  setVolumeAttachment(attachment: VolumeAttachmentObject): void {
    this.#attachments.set(attachment.metadata.name ?? '', attachment.spec?.nodeName ?? '');
  }

  deleteVolumeAttachment(name: string): void {
    this.#attachments.delete(name);
  }

  #uses(node: string, reference: string): boolean {
    return this.#users.get(reference)?.has(node) ?? false;
  }

  #usesVolume(node: string, volume: string): boolean {
    const claim = this.#claims.get(volume);
    return claim !== undefined && this.#uses(node, claim);
  }
}
