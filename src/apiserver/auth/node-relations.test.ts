import { describe, expect, it } from 'vitest';
import type { NodeRelatedKind } from './node-authorizer.ts';
import { NodeRelationIndex } from './node-relations.ts';

const meta = (name: string, annotations?: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name, namespace: 'a', ...(annotations && { annotations }) },
});

const pod = (name: string, nodeName: string, annotations?: Record<string, string>) => ({
  ...meta(name, annotations),
  spec: {
    nodeName,
    serviceAccountName: 'sa',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [{ envFrom: [{ secretRef: { name: 'from-secret' } }, { configMapRef: { name: 'from-map' } }] }],
    containers: [
      {
        env: [
          { valueFrom: { secretKeyRef: { name: 'env-secret' } } },
          { valueFrom: { configMapKeyRef: { name: 'env-map' } } },
          {},
        ],
      },
    ],
    volumes: [
      { name: 'v1', secret: { secretName: 'volume-secret' } },
      { name: 'v2', configMap: { name: 'volume-map' } },
      { name: 'v3', persistentVolumeClaim: { claimName: 'claim' } },
      { name: 'v4', ephemeral: {} },
      {
        name: 'v5',
        projected: { sources: [{ secret: { name: 'projected-secret' } }, { configMap: { name: 'projected-map' } }] },
      },
      { name: 'v6', csi: { nodePublishSecretRef: { name: 'csi-secret' } } },
    ],
    resourceClaims: [{ resourceClaimName: 'gpu' }],
  },
});

const used: [NodeRelatedKind, string][] = [
  ['pod', 'p'],
  ['serviceaccount', 'sa'],
  ['secret', 'pull'],
  ['secret', 'from-secret'],
  ['secret', 'env-secret'],
  ['secret', 'volume-secret'],
  ['secret', 'projected-secret'],
  ['secret', 'csi-secret'],
  ['configmap', 'from-map'],
  ['configmap', 'env-map'],
  ['configmap', 'volume-map'],
  ['configmap', 'projected-map'],
  ['persistentvolumeclaim', 'claim'],
  ['persistentvolumeclaim', 'p-v4'],
  ['resourceclaim', 'gpu'],
];

describe('NodeRelationIndex', () => {
  it('relates a node to everything that its pods use, and to nothing else', () => {
    const index = new NodeRelationIndex();
    index.setPod(pod('p', 'n1'));
    for (const [kind, name] of used) {
      expect(index.related('n1', kind, 'a', name), `${kind} ${name}`).toBe(true);
      expect(index.related('n2', kind, 'a', name)).toBe(false);
      expect(index.related('n1', kind, 'b', name)).toBe(false);
    }
    expect(index.related('n1', 'secret', 'a', 'unused')).toBe(false);
  });

  it('drops a relation with the last pod that uses the object', () => {
    const index = new NodeRelationIndex();
    index.setPod(pod('p', 'n1'));
    index.setPod(pod('q', 'n1'));
    index.setPod(pod('q', 'n1'));
    index.deletePod('a', 'p');
    expect(index.related('n1', 'secret', 'a', 'pull')).toBe(true);
    index.deletePod('a', 'q');
    expect(index.related('n1', 'secret', 'a', 'pull')).toBe(false);
  });

  it('relates nothing to pods without a node, and only the pod itself to mirrors of static pods', () => {
    const index = new NodeRelationIndex();
    index.setPod(pod('p', ''));
    expect(index.related('', 'pod', 'a', 'p')).toBe(false);
    index.setPod(pod('m', 'n1', { 'kubernetes.io/config.mirror': 'x' }));
    expect(index.related('n1', 'pod', 'a', 'm')).toBe(true);
    expect(index.related('n1', 'secret', 'a', 'pull')).toBe(false);
  });

  it('follows claims to their volumes and to the secrets of CSI drivers', () => {
    const index = new NodeRelationIndex();
    index.setPod(pod('p', 'n1'));
    index.setPersistentVolume({
      ...meta('pv'),
      spec: {
        claimRef: { namespace: 'a', name: 'claim' },
        csi: {
          nodeStageSecretRef: { namespace: 's', name: 'stage' },
          controllerPublishSecretRef: { namespace: 's', name: 'controller' },
        },
      },
    });
    expect(index.related('n1', 'persistentvolume', '', 'pv')).toBe(true);
    expect(index.related('n1', 'secret', 's', 'stage')).toBe(true);
    expect(index.related('n1', 'secret', 's', 'controller')).toBe(false);
    expect(index.related('n2', 'secret', 's', 'stage')).toBe(false);
    index.deletePersistentVolume('pv');
    expect(index.related('n1', 'persistentvolume', '', 'pv')).toBe(false);
    expect(index.related('n1', 'secret', 's', 'stage')).toBe(false);
  });

  it('relates volume attachments to their node', () => {
    const index = new NodeRelationIndex();
    index.setVolumeAttachment({ ...meta('va'), spec: { nodeName: 'n1' } });
    expect(index.related('n1', 'volumeattachment', '', 'va')).toBe(true);
    expect(index.related('n2', 'volumeattachment', '', 'va')).toBe(false);
    index.deleteVolumeAttachment('va');
    expect(index.related('n1', 'volumeattachment', '', 'va')).toBe(false);
  });
});
