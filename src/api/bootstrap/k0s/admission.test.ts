import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../machinery/index.ts';
import { created, defaulted, make } from '../../admission.test-support.ts';

const refused = (spec: JsonObject): string[] => created(defaulted(make('K0sWorkerConfig', spec)));
const secretRef = { name: 's', key: 'k' };
const ignition = { variant: 'fcos', version: '1.5.0' };

describe('a K0sWorkerConfig', () => {
  it.each<JsonObject>([
    {},
    { version: 'v1.32.6+k0s.0' },
    { version: 'v1.32.6-k0s.0' },
    { version: '1.32.6' },
    {
      files: [
        { path: '/a', content: 'x', permissions: '0644' },
        { path: '/b', contentFrom: { secretRef } },
      ],
    },
    { provisioner: { type: 'ignition', ignition } },
    { provisioner: { type: 'powershell', platform: 'windows' } },
    { downloadURL: 'oci://registry.example.org/k0s:v1' },
  ])('accepts %j', (spec) => {
    expect(refused(spec)).toEqual([]);
  });

  it.each<[JsonObject, string]>([
    [{ version: 'latest' }, 'spec.version: Invalid value: "latest": must be a version of k0s, e.g. v1.32.6+k0s.0'],
    [{ files: [{ content: 'x' }] }, 'spec.files[0].path: Required value'],
    [{ files: [{ path: 'a' }] }, 'spec.files[0].path: Invalid value: "a": must be an absolute path'],
    [{ files: [{ path: '/a' }, { path: '/a' }] }, 'spec.files[1].path: Duplicate value: "/a"'],
    [
      { files: [{ path: '/a', permissions: 'rw' }] },
      'spec.files[0].permissions: Invalid value: "rw": must be a mode in octal, e.g. 0644',
    ],
    [
      { files: [{ path: '/a', content: 'x', contentFrom: { secretRef } }] },
      'spec.files[0].contentFrom: Forbidden: cannot be used together with content',
    ],
    [
      { provisioner: { type: 'ignition' } },
      'spec.provisioner.ignition: Required value: with type ignition, variant and version of the configuration',
    ],
    [{ provisioner: { ignition } }, 'spec.provisioner.ignition: Forbidden: cannot be used with type cloud-config'],
    [
      { provisioner: { type: 'powershell' } },
      'spec.provisioner.type: Invalid value: "powershell": cannot be used on linux',
    ],
    [
      { downloadURL: 'k0s' },
      'spec.downloadURL: Invalid value: "k0s": must be a URL that begins with https://, http:// or oci://',
    ],
  ])('refuses %j', (spec, problem) => {
    expect(refused(spec)).toEqual([problem]);
  });

  it('applies the same checks to a K0sWorkerConfigTemplate', () => {
    expect(created(make('K0sWorkerConfigTemplate', { template: { spec: { version: 'x' } } }))).toHaveLength(1);
  });
});
