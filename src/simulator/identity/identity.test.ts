import { describe, expect, it } from 'vitest';
import { send, testCloud } from '../testing/test-cloud.ts';

describe('keystone', () => {
  it('gives a member a token with catalogue', async () => {
    const { cloud, member } = await testCloud();
    const user = await member('p');
    const answer = await send(cloud, 'GET', '/identity/v3/auth/tokens', {
      token: user.token,
      headers: { 'X-Subject-Token': user.token },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ token: { project: { name: 'p' }, methods: ['password'] } });
  });
});
