import { expect, it } from 'vitest';
import type { JsonObject } from '../../machinery/index.ts';
import { make, refusedBySchema } from '../admission.test-support.ts';

const cloudCredentialsRef = { secretName: 's', cloudName: 'c' };
const content = { diskFormat: 'qcow2', download: { url: 'https://example.com/image.qcow2' } };

it.each<[string, JsonObject, string[]]>([
  ['an image that is found', { managementPolicy: 'unmanaged', import: { filter: { name: 'i' } } }, []],
  ['an image that is made', { managementPolicy: 'managed', resource: { content } }, []],
  [
    'an image that is neither',
    { managementPolicy: 'unmanaged', resource: { content } },
    ['resource may not be specified when policy is unmanaged', 'import must be specified when policy is unmanaged'],
  ],
  [
    'options for an image that is not made',
    { managementPolicy: 'unmanaged', import: { filter: { name: 'i' } }, managedOptions: { onDelete: 'detach' } },
    ['managedOptions may only be provided when policy is managed'],
  ],
])('Image schema checks %s', (_, spec, expected) => {
  expect(refusedBySchema(make('Image', { cloudCredentialsRef, ...spec }))).toEqual(
    expected.map((text) => expect.stringContaining(text)),
  );
});
