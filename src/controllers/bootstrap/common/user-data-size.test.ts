import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../machinery/index.ts';
import { novaUserDataLimit, userDataSizeProblem } from './user-data-size.ts';

describe('the size of user data', () => {
  it('is accepted as long as it fits after base64', () => {
    expect(userDataSizeProblem('x'.repeat(Math.floor(novaUserDataLimit / 4) * 3))).toBeUndefined();
  });

  it('is accepted when it fits compressed', () => {
    expect(userDataSizeProblem('x'.repeat(500_000))).toBeUndefined();
  });

  it('is reported with numbers and advice when it fits neither way', () => {
    const noise = seededRandom(1).text(150_000, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');
    expect(userDataSizeProblem(noise)).toMatch(/^the user data is 200000 bytes .* OpenStack takes 65535: put less/);
  });
});
