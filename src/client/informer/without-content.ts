import {
  CapstanError,
  formatApiVersion,
  type KubeObject,
  type ObjectMeta,
  type Resource,
} from '../../machinery/index.ts';

/** The content of an object was read although only its metadata is cached, which is a bug. */
export class ContentNotCachedError extends CapstanError {
  constructor({ kind, metadata: { namespace, name } }: KubeObject) {
    super('CAP_CONTENT_NOT_CACHED', `the content of ${kind} ${namespace ?? ''}/${name ?? ''} is not in the cache`, {
      hint: 'it has to be read from the API',
    });
  }
}

/** An object without content. Reading the content throws, so that it is not mistaken for empty. */
class WithoutContent implements KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;

  constructor(apiVersion: string, kind: string, metadata: ObjectMeta) {
    this.apiVersion = apiVersion;
    this.kind = kind;
    this.metadata = metadata;
  }

  get data(): never {
    throw new ContentNotCachedError(this);
  }

  get type(): never {
    throw new ContentNotCachedError(this);
  }
}

/** Annotations are dropped, too, because `kubectl apply` stores a copy of the content there. */
export function withoutContent<T extends KubeObject>({ group, version, kind }: Resource<T>): (object: T) => T {
  const apiVersion = formatApiVersion(group, version);
  return ({ metadata }) => {
    const { annotations: _, managedFields: __, ...kept } = metadata;
    // The getters represent the fields of the type.
    return new WithoutContent(apiVersion, kind, kept) as KubeObject as T;
  };
}

export function hasContent(object: KubeObject): boolean {
  return !(object instanceof WithoutContent);
}
