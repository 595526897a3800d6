import { describe, expect, it } from 'vitest';
import { nextEtcdImage } from '../etcd/images.ts';
import { etcdMembersFor } from '../etcd/members.ts';
import { coreDnsVersion, imageTag, konnectivityVersion, kubernetesImages } from './images.ts';
import { nextVersion, workersMayRun } from './steps.ts';

describe('a control plane', () => {
  it.each<[string | undefined, string, readonly string[], string]>([
    [undefined, 'v1.28.10', [], 'allowed'],
    ['v1.32.6', 'v1.32.6', [], 'allowed'],
    ['v1.32.6', 'v1.33.0', [], 'allowed'],
    ['1.32.6', '1.33.0', [], 'allowed'],
    ['v1.32.6+k0s.0', 'v1.32.6-k0s.1', [], 'allowed'],
    ['v1.32.6+k0s.0', 'v1.33.1', [], 'allowed'],
    ['v1.32.6', 'v1.34.0', [], 'VersionJump'],
    ['v1.32.6-k0s.0', 'v1.34.0+k0s.0', [], 'VersionJump'],
    ['v1.32.6', 'v1.32.5', [], 'VersionDowngrade'],
    ['v1.32.6', 'v1.31.9', [], 'VersionDowngrade'],
    ['v1.32.6', 'latest', [], 'VersionUnknown'],
    ['v1.32.6', 'v1.33.0', ['v1.32.6', 'v1.30.1'], 'allowed'],
    ['v1.32.6', 'v1.33.0', ['v1.32.6', 'v1.29.9'], 'VersionSkew'],
    ['v1.26.3', 'v1.27.0', ['v1.24.1'], 'VersionSkew'],
    ['v1.26.3', 'v1.27.0', ['v1.25.1'], 'allowed'],
  ])('running %s, wanting %s with nodes of %j: %s', (running, desired, kubelets, answer) => {
    const decision = nextVersion(running, desired, kubelets);
    expect(decision.allowed ? 'allowed' : decision.reason).toBe(answer);
    if (decision.allowed) expect(decision.version).toBe(desired);
    else expect(decision.message).toContain(desired);
  });

  it.each([
    ['v1.32.6+k0s.0', 'v1.32.6', true],
    ['v1.32.6', 'v1.31.0', true],
    ['v1.32.6', 'v1.33.0', false],
    [undefined, 'v1.33.0', false],
  ])('a plane of %s lets workers run %s: %s', (plane, workers, answer) => {
    expect(workersMayRun(plane, workers)).toBe(answer);
  });
});

describe('versions of images', () => {
  it.each([
    ['1.28.10', 'v1.28.10'],
    ['v1.30.1+vendor.2', 'v1.30.1_vendor.2'],
  ])('images of %s have the tag %s', (version, tag) => {
    expect(imageTag(version)).toBe(tag);
    expect(kubernetesImages(version, 'registry.example').kubeProxy).toBe(`registry.example/kube-proxy:${tag}`);
  });

  it.each([
    ['v1.28.10', 'v0.28.0'],
    ['1.36.0', 'v0.36.0'],
    ['v1.40.0', 'v0.36.0'],
  ])('konnectivity images for %s are %s', (version, expected) => {
    expect(konnectivityVersion(version)).toBe(expected);
  });

  it('CoreDNS images follow the Kubernetes version', () => {
    expect(['v1.28.10', 'v1.32.6', 'v1.33.6', '1.35.0'].map(coreDnsVersion)).toEqual([
      'v1.11.1',
      'v1.11.3',
      'v1.12.0',
      'v1.12.1',
    ]);
  });

  it.each([
    ['quay.io/k0sproject/etcd:v3.5.13', 'quay.io/k0sproject/etcd:v3.7.1', 'quay.io/k0sproject/etcd:v3.6.5'],
    ['registry.k8s.io/etcd:3.5.13-0', 'registry.k8s.io/etcd:3.7.1-0', 'registry.k8s.io/etcd:3.6.5-0'],
    ['localhost:5000/etcd:v3.6.1', 'localhost:5000/etcd:v3.7.1', 'localhost:5000/etcd:v3.7.1'],
    ['etcd:v3.5.13', 'etcd@sha256:0123', 'etcd@sha256:0123'],
  ])('etcd images from %s to %s pass through %s', (running, wanted, image) => {
    expect(nextEtcdImage(running, wanted)).toEqual({ image });
  });

  it('etcd images never go back to an older version', () => {
    expect(nextEtcdImage('etcd:v3.6.5', 'etcd:v3.5.13')).toHaveProperty('problem');
  });
});

describe('etcdMembersFor', () => {
  it.each([
    [0, 1],
    [1, 1],
    [2, 3],
    [3, 3],
    [4, 5],
    [7, 5],
  ])('%d replicas get %d members', (replicas, members) => {
    expect(etcdMembersFor(replicas)).toBe(members);
  });
});
