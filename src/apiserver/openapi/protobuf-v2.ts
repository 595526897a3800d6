import { bytesField } from '../../machinery/index.ts';

/** What clients before the third OpenAPI version ask for; newer ones ask for it about kinds the third does not name. */
export const openApiV2Protobuf: { readonly mediaTypes: ReadonlySet<string>; readonly contentType: string } = {
  mediaTypes: new Set([
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  ]),
  contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
};

/**
 * An OpenAPI 2 document in protobuf that describes no kind. kubectl reads it about a kind that it does not find in the
 * third version, such as a `List` or one whose definition comes later in the same file: without an answer it refuses to
 * work at all, with this one it leaves validation to the server.
 */
export function emptyOpenApiV2(title: string, version: string): Buffer {
  const info = Buffer.concat([bytesField(1, title), bytesField(2, version)]);
  const nothing = Buffer.alloc(0);
  return Buffer.concat([bytesField(1, '2.0'), bytesField(2, info), bytesField(8, nothing), bytesField(9, nothing)]);
}
