import { must } from '../../machinery/index.ts';
import type { RequestContext } from './http/context.ts';
import type { Answer, Route } from './service.ts';
import { badRequest, notFound, readTexts } from './wrapped-refusals.ts';

type Texts = Readonly<Record<string, string>>;

/** An operation on key-value pairs: `list`, `create` and `replace` are about all pairs, the others about one. */
export type TextsOperation = 'list' | 'create' | 'replace' | 'show' | 'update' | 'delete';

/** Key-value pairs of an object, for example its metadata or extra specs: their names on the wire, how they are read and written. */
export interface TextsOwner {
  /** for example `/volumes/{id}/metadata` */
  readonly path: string;
  /** key of the body with all pairs, for example `metadata` */
  readonly key: string;
  /** key of the body with one pair, for example `meta`; absent: the pair itself is the body */
  readonly single?: string;
  /** microversions with these routes */
  readonly versions?: Pick<Route, 'since' | 'until'>;
  /** whether PUT may replace all pairs */
  readonly isReplaceable: boolean;
  /** status of the answer to a deletion */
  readonly deleted: number;
  /** `level` is what the operation needs from members of a project */
  policy(operation: TextsOperation, level: 'reader' | 'member'): NonNullable<Route['policy']>;
  /** reads the body with all pairs; default: any texts of up to 255 characters */
  parse?(body: unknown): Texts;
  read(context: RequestContext): Texts;
  write(context: RequestContext, texts: Texts): void;
  /** message about an unknown key */
  unknown(context: RequestContext, key: string): string;
}

/** Builds the routes of key-value pairs of nova and cinder. Both read the body before they look for the object. */
export function textRoutes(owner: TextsOwner): Route[] {
  const { path, key: wrapper, single } = owner;
  const parse = owner.parse ?? ((body: unknown) => readTexts(wrapper, body));
  const all = (texts: Texts): Answer => ({ status: 200, body: { [wrapper]: texts } });
  const one = (name: string, texts: Texts): Answer => {
    const pair = { [name]: must(texts[name], name) };
    return { status: 200, body: single === undefined ? pair : { [single]: pair } };
  };
  const known = (context: RequestContext): { name: string; texts: Texts } => {
    const name = context.param('key');
    const texts = owner.read(context);
    if (!Object.hasOwn(texts, name)) throw notFound(owner.unknown(context, name));
    return { name, texts };
  };
  const route = (operation: TextsOperation, method: Route['method'], handle: Route['handle']): Route => {
    const isOfAll = operation === 'list' || operation === 'create' || operation === 'replace';
    const policy = owner.policy(operation, method === 'GET' ? 'reader' : 'member');
    return { method, path: isOfAll ? path : `${path}/{key}`, policy, ...owner.versions, handle };
  };
  const routes = [
    route('list', 'GET', (context) => all(owner.read(context))),
    route('create', 'POST', (context) => {
      const given = parse(context.json);
      const texts = { ...owner.read(context), ...given };
      owner.write(context, texts);
      return all(single === undefined ? given : texts);
    }),
    route('show', 'GET', (context) => {
      const { name, texts } = known(context);
      return one(name, texts);
    }),
    route('update', 'PUT', (context) => {
      const name = context.param('key');
      // A pair without a key of its own is wrapped, to be parsed the same way.
      const given = readTexts(single ?? wrapper, single === undefined ? { [wrapper]: context.json } : context.json);
      if (!Object.hasOwn(given, name) || Object.keys(given).length !== 1) {
        throw badRequest('Request body and URI mismatch');
      }
      owner.write(context, { ...owner.read(context), ...given });
      return one(name, given);
    }),
    route('delete', 'DELETE', (context) => {
      const { name, texts } = known(context);
      owner.write(context, Object.fromEntries(Object.entries(texts).filter(([each]) => each !== name)));
      return { status: owner.deleted };
    }),
  ];
  if (!owner.isReplaceable) return routes;
  const replace = route('replace', 'PUT', (context) => {
    const given = parse(context.json);
    owner.write(context, given);
    return all(given);
  });
  return [...routes, replace];
}
