import { describe, expect, it } from 'vitest';
import { reasonOf, shareOut } from './tests.ts';

describe('what a Python test printed', () => {
  it('is told in the words of what was raised last', () => {
    const output = [
      '2026-01-01 [tempest] Request: 404 GET http://cloud',
      'Traceback (most recent call last):',
      '  File "a.py", line 3, in test_a',
      '    self.client.show()',
      'tempest.lib.exceptions.NotFound: Object not found',
      "Details: {'code': 404}",
      '',
    ].join('\n');
    expect(reasonOf(output)).toBe("tempest.lib.exceptions.NotFound: Object not found Details: {'code': 404}");
  });

  it('is the reason itself where a test was skipped', () => {
    expect(reasonOf('no backups here')).toBe('no backups here');
  });
});

describe('tests for several workers', () => {
  it('stay with their class, and are spread evenly', () => {
    const names = ['m.A.test_1', 'm.A.test_2', 'm.B.test_1', 'm.C.test_1', 'm.A.test_3'];
    expect(shareOut(names, 2)).toEqual([
      ['m.A.test_1', 'm.A.test_2', 'm.A.test_3'],
      ['m.B.test_1', 'm.C.test_1'],
    ]);
  });

  it('leave no worker without any', () => {
    expect(shareOut(['m.A.test_1'], 2)).toEqual([['m.A.test_1']]);
  });
});
