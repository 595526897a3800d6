import {
  CapstanError,
  formatApiVersion,
  type KubeObject,
  type ObjectMeta,
  type Resource,
} from '../../machinery/index.ts';

/** Somebody read the content of an object of which a cache keeps only the metadata: a mistake in the program. */
export class ContentNotCachedError extends CapstanError {
  constructor({ kind, metadata: { namespace, name } }: KubeObject) {
    super('CAP_CONTENT_NOT_CACHED', `the content of ${kind} ${namespace ?? ''}/${name ?? ''} is not in the cache`, {
      hint: 'it has to be read from the API',
    });
  }
}

/** What is known of an object without its content. To ask for the content is an error, lest it be taken for empty. */
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

/** Annotations go, too: `kubectl apply` keeps a copy of the content there. */
export function withoutContent<T extends KubeObject>({ group, version, kind }: Resource<T>): (object: T) => T {
  const apiVersion = formatApiVersion(group, version);
  return ({ metadata }) => {
    const { annotations: _, managedFields: __, ...kept } = metadata;
    // the getters stand for the fields of the type
    return new WithoutContent(apiVersion, kind, kept) as KubeObject as T;
  };
}

/** Whether a cached object has its content. */
export function hasContent(object: KubeObject): boolean {
  return !(object instanceof WithoutContent);
}
