import { describe, expect, it } from 'vitest';
import { runProcess } from '../../support/process.ts';
import { goldenFiles } from './golden-files.ts';
import { findIgnitionValidate } from './judges.ts';

const validator = findIgnitionValidate(process.env);

const judge = (text: string) => runProcess(validator ?? '', ['-'], { input: text });

describe.skipIf(validator === undefined)(
  'real ignition-validate (CAPSTAN_IGNITION_VALIDATE, or built by conformance:bootstrap-judges)',
  () => {
    it.each(goldenFiles('.ign'))('accepts $name without a message', async ({ text }) => {
      const { code, stdout, stderr } = await judge(text);
      expect({ code, words: stdout + stderr }).toEqual({ code: 0, words: '' });
    });

    it('refuses a configuration with an error, so its verdict counts', async () => {
      const broken = JSON.stringify({ ignition: { version: '3.3.0' }, storage: { files: [{ path: 'relative' }] } });
      expect((await judge(broken)).code).not.toBe(0);
    });
  },
);
