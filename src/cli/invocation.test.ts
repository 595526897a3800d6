import { describe, expect, it } from 'vitest';
import { asInvoked, commandName } from './invocation.ts';

const npx = { npm_command: 'exec', npm_lifecycle_event: 'npx' };

describe('the name of the program in its output', () => {
  it.each([
    ['by its own name', {}, 'capstan'],
    ['by npx', npx, 'npx capstan'],
    ['by a script of a package', { npm_command: 'run-script', npm_lifecycle_event: 'start' }, 'capstan'],
  ])('is the one used to call it %s', (_how, env, name) => {
    expect(commandName(env)).toBe(name);
  });

  it('replaces the name only in quoted commands and examples', () => {
    const text =
      'is `capstan up` running?\n  capstan get clusters\n  A=b capstan doctor\ncapstan: failed in capstan up\n';
    expect(asInvoked(text, {})).toBe(text);
    expect(asInvoked(text, npx)).toBe(
      'is `npx capstan up` running?\n  npx capstan get clusters\n  A=b npx capstan doctor\ncapstan: failed in capstan up\n',
    );
  });
});
