import { describe, expect, it } from 'vitest';
import { nextAction } from './next-action.ts';

const lattice = (reason: string, message: string): string =>
  nextAction({ kind: 'LatticeCluster', name: 'red', argument: 'red', reason, message });

describe('the next action for a LatticeCluster', () => {
  it.each([
    [
      'the cloud has no Octavia, which the API server needs for its load balancer; use a region that has it',
      'use a region that has it',
    ],
    ['there is no flavor "x"; choose one of a, b', 'choose one of a, b'],
    [
      'there is no key pair "k"; create it (capstan create keypair k), or name one of these as sshKeyName: demo',
      'create it (capstan create keypair k), or name one of these as sshKeyName: demo',
    ],
  ])('is the remedy for what its cloud lacks: %s', (message, next) => {
    expect(lattice('Missing', message)).toBe(next);
  });

  it('is to correct a field that the API refuses, not to ask for permissions', () => {
    const message =
      'RKE2ControlPlane red-control-plane: RKE2ControlPlane.controlplane.cluster.x-k8s.io "red-control-plane" is invalid: spec.version: Forbidden: cannot update Kubernetes version from v1.33.6+rke2r1 to v1.31.0+rke2r1: machines already run v1.33';
    expect(lattice('ApplyFailed', message)).toBe('correct what the message says: kubectl edit latticecluster red');
  });

  it('names its Secret in its own words', () => {
    const message = 'Secret capo-system/openstack-cloud-config does not exist; create it with the key clouds.yaml';
    expect(lattice('OpenStackAuthenticationFailed', message)).toContain('with the credentials of the LatticeCluster');
    expect(lattice('OpenStackAuthenticationFailed', message)).not.toContain('identityRef');
  });
});
