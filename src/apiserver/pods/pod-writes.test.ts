import { describe, expect, it } from 'vitest';
import { at, mergePatch, onTargets, pod, targets } from '../testing/index.ts';

onTargets(targets, (on) => {
  describe('a Pod', () => {
    it('keeps its generation when it is bound to a node, and keeps observedGeneration', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('pods');
      const made = await api.create(path, pod('p'));
      expect(at(made.body, 'metadata.generation')).toBe(1);
      const target = { apiVersion: 'v1', kind: 'Node', name: 'n' };
      const bound = await api.post(`${path}/p/binding`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'p' },
        target,
      });
      expect(bound.status).toBe(201);
      const seen = { type: 'Ready', status: 'False', observedGeneration: 1 };
      await api.patch(`${path}/p/status`, mergePatch, { status: { observedGeneration: 1, conditions: [seen] } });
      const conditions = [{ type: 'Ready', status: 'True' }];
      await api.patch(`${path}/p/status`, mergePatch, { status: { observedGeneration: null, conditions } });
      const read = await api.get(`${path}/p`);
      expect(read.body).toMatchObject({
        metadata: { generation: 1 },
        spec: { nodeName: 'n' },
        status: { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True', observedGeneration: 1 }] },
      });
      const changed = await api.patch(`${path}/p`, mergePatch, { spec: { activeDeadlineSeconds: 100 } });
      expect(at(changed.body, 'metadata.generation')).toBe(2);
    });

    it('has the condition SchedulingGated as soon as it is created with a gate', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('pods');
      const gated = pod('p', { spec: { schedulingGates: [{ name: 'example.com/gate' }] } });
      expect((await api.create(path, gated)).body).toMatchObject({
        status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
      });
    });

    it.each([
      ['foo-', false],
      ['kernel.shm_rmid_forced', true],
      ['net/ipv4/ip_forward', true],
      ['bar..', false],
      ['Net.x', false],
    ])('is accepted with sysctl %s: %s', async (name, isTaken) => {
      const { api, namespace } = on();
      const path = (await namespace()).core('pods');
      const answer = await api.post(path, pod('p', { spec: { securityContext: { sysctls: [{ name, value: '1' }] } } }));
      expect(answer.status).toBe(isTaken ? 201 : 422);
      if (isTaken) return;
      expect(answer.body['message']).toBe(
        `Pod "p" is invalid: spec.securityContext.sysctls[0].name: Invalid value: "${name}": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`,
      );
    });
  });

  describe('a Pod with a runtime class', () => {
    it('is refused when the class does not exist', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('pods');
      const answer = await api.post(path, pod('p', { spec: { runtimeClassName: 'nobody-knows' } }));
      expect(answer.status).toBe(403);
      expect(answer.body['message']).toBe('pods "p" is forbidden: pod rejected: RuntimeClass "nobody-knows" not found');
    });

    it('gets overhead, node selector and tolerations of the class unless it sets others', async () => {
      const { api, namespace, unique, cleanUp } = on();
      const path = (await namespace()).core('pods');
      const name = unique('class');
      const classes = '/apis/node.k8s.io/v1/runtimeclasses';
      const toleration = { key: 'sandbox', operator: 'Exists', effect: 'NoSchedule' };
      await api.create(classes, {
        apiVersion: 'node.k8s.io/v1',
        kind: 'RuntimeClass',
        metadata: { name },
        handler: 'sandbox',
        overhead: { podFixed: { cpu: '10m', memory: '1Mi' } },
        scheduling: { nodeSelector: { sandbox: 'yes' }, tolerations: [toleration] },
      });
      cleanUp(`${classes}/${name}`);
      const spec = { runtimeClassName: name };
      const made = await api.create(path, pod('p', { spec: { ...spec, nodeSelector: { disk: 'fast' } } }));
      expect(made.body).toMatchObject({
        spec: { overhead: { cpu: '10m', memory: '1Mi' }, nodeSelector: { sandbox: 'yes', disk: 'fast' } },
      });
      expect(at(made.body, 'spec.tolerations')).toContainEqual(toleration);
      const refusals = [
        [
          { nodeSelector: { sandbox: 'no' } },
          `conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes; pod.spec.nodeSelector[sandbox] = no`,
        ],
        [{ overhead: { cpu: '1' } }, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"],
      ] as const;
      for (const [more, message] of refusals) {
        const answer = await api.post(path, pod('q', { spec: { ...spec, ...more } }));
        expect(answer.status).toBe(403);
        expect(answer.body['message']).toBe(`pods "q" is forbidden: ${message}`);
      }
      const alone = await api.post(path, pod('q', { spec: { overhead: { cpu: '1' } } }));
      expect(alone.body['message']).toBe(
        'pods "q" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
      );
    });
  });
});
