import { bytesField } from '../../machinery/index.ts';

/**
 * OpenAPI version 2 as protobuf. Old clients always request it, and newer ones for kinds that version 3 does not
 * contain.
 */
export const openApiV2Protobuf: { readonly mediaTypes: ReadonlySet<string>; readonly contentType: string } = {
  mediaTypes: new Set([
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  ]),
  contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
};

/**
 * Builds an OpenAPI 2 protobuf document without kinds. kubectl reads it for kinds that version 3 does not contain, such
 * as `List` or a kind whose definition is in the same file. Without a response kubectl fails; with this one it leaves
 * validation to the server.
 */
export function emptyOpenApiV2(title: string, version: string): Buffer {
  const info = Buffer.concat([bytesField(1, title), bytesField(2, version)]);
  const nothing = Buffer.alloc(0);
  return Buffer.concat([bytesField(1, '2.0'), bytesField(2, info), bytesField(8, nothing), bytesField(9, nothing)]);
}
