import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../machinery/index.ts';
import { createIds } from './ids.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('ids', () => {
  it('have the form of their service and do not repeat', () => {
    const ids = createIds(seededRandom(1));
    const seen = new Set<string>();
    for (let i = 0; i < 2000; i++) {
      const [id, hex, request, mac] = [ids.uuid(), ids.hex(), ids.requestId(), ids.mac()];
      expect(id).toMatch(uuid);
      expect(hex).toMatch(/^[0-9a-f]{32}$/);
      expect(request.slice(0, 4)).toBe('req-');
      expect(request.slice(4)).toMatch(uuid);
      expect(mac).toMatch(/^fa:16:3e(:[0-9a-f]{2}){3}$/);
      for (const each of [id, hex, request]) {
        expect(seen.has(each)).toBe(false);
        seen.add(each);
      }
    }
    expect(ids.secret(20)).toMatch(/^[A-Za-z0-9]{20}$/);
  });

  it('are the same for the same seed, however many requests came in between', () => {
    const [first, second] = [createIds(seededRandom(7)), createIds(seededRandom(7))];
    first.requestId();
    first.requestId();
    expect(first.uuid()).toBe(second.uuid());
    expect(createIds(seededRandom(8)).uuid()).not.toBe(first.uuid());
  });

  it('can be preset once', () => {
    const ids = createIds(seededRandom(1));
    ids.next('375af7fe-a2c1-4c26-a57d-6d33175a6650');
    expect(ids.uuid()).toBe('375af7fe-a2c1-4c26-a57d-6d33175a6650');
    expect(ids.uuid()).toMatch(uuid);
  });
});
