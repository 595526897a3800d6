import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystem, type System } from '../system.ts';
import { befall, befallPlane, brokenManifests, create, desiredFor, expectAnswer } from './runner.ts';
import { wrongClouds } from './wrong-cloud.ts';
import { wrongManifests } from './wrong-manifests.ts';
import { wrongPlanes } from './wrong-planes.ts';

// The faults are real: controllers, cloud and machines work, and only the named part is broken.
describe('the first cause of a fault', () => {
  describe('in manifests of a user', () => {
    let system: System;
    beforeAll(async () => {
      system = await createSystem({ seed: 1 });
      for (const [index, fault] of wrongManifests.entries()) {
        await fault.before?.(system, desiredFor(fault, index).name);
        await create(system, brokenManifests(fault, index));
      }
      await system.pass(20 * 60_000);
    });
    afterAll(() => system.stop());

    it.each(wrongManifests.map((fault, index) => ({ ...fault, index })))(
      'is named: $what',
      async ({ index, ...fault }) => {
        await expectAnswer(system, fault, desiredFor(fault, index).name);
      },
    );
  });

  describe('in clouds and by people', () => {
    let system: System;
    beforeAll(async () => {
      system = await createSystem({ seed: 2 });
    });
    afterAll(() => system.stop());

    it.each(wrongClouds.map((fault, index) => ({ ...fault, index })))(
      'is named: $what',
      async ({ index, ...fault }) => {
        await befall(system, fault, index);
      },
    );
  });

  describe('in control planes in Pods', () => {
    let system: System;
    beforeAll(async () => {
      system = await createSystem({ seed: 3, hosted: true });
    });
    afterAll(() => system.stop());

    it.each(wrongPlanes.map((fault, index) => ({ ...fault, index })))(
      'is named: $what',
      async ({ index, ...fault }) => {
        await befallPlane(system, fault, index);
      },
    );
  });

  it('is tested for no fewer than forty faults', () => {
    const all = [...wrongManifests, ...wrongClouds, ...wrongPlanes].map(({ what }) => what);
    expect(all.length).toBeGreaterThanOrEqual(40);
  });
});
