import { must } from '../../machinery/index.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { badRequest, notFound, readTexts } from '../core/wrapped-refusals.ts';

type Texts = Readonly<Record<string, string>>;

/** Owner of key-value metadata: how it is found and stored. */
export interface TextsOwner {
  /** for example `/volumes/{id}/metadata` */
  readonly path: string;
  /** wrapper of the body, for example `metadata` */
  readonly key: string;
  /** wrapper of a single entry, for example `meta` */
  readonly single?: string;
  policy(action: 'get' | 'create' | 'update' | 'delete'): NonNullable<Route['policy']>;
  /** whether PUT may replace all entries */
  readonly isReplaceable: boolean;
  /** status of the answer to a deletion */
  readonly deleted: number;
  read(context: RequestContext): Texts;
  write(context: RequestContext, texts: Texts): void;
  unknown(context: RequestContext, key: string): string;
}

/** Builds routes of key-value metadata, for all entries and for single ones. */
export function textRoutes(owner: TextsOwner): Route[] {
  const { path, key: wrapper, single } = owner;
  const one = (name: string, value: string): object =>
    single === undefined ? { [name]: value } : { [single]: { [name]: value } };
  const write = (context: RequestContext, how: 'merge' | 'replace'): Answer => {
    const given = readTexts(wrapper, context.json);
    const texts = how === 'merge' ? { ...owner.read(context), ...given } : given;
    owner.write(context, texts);
    return { status: 200, body: { [wrapper]: how === 'merge' && single === undefined ? given : texts } };
  };
  const routes: Route[] = [
    {
      method: 'GET',
      path,
      policy: owner.policy('get'),
      handle: (context) => ({ status: 200, body: { [wrapper]: owner.read(context) } }),
    },
    { method: 'POST', path, policy: owner.policy('create'), handle: (context) => write(context, 'merge') },
    {
      method: 'GET',
      path: `${path}/{key}`,
      policy: owner.policy('get'),
      handle: (context) => {
        const name = context.param('key');
        const texts = owner.read(context);
        if (!Object.hasOwn(texts, name)) throw notFound(owner.unknown(context, name));
        return { status: 200, body: one(name, must(texts[name], 'texts[name]')) };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{key}`,
      policy: owner.policy('update'),
      handle: (context) => {
        const name = context.param('key');
        const given = single === undefined ? bare(context.json) : readTexts(single, context.json);
        if (!Object.hasOwn(given, name) || Object.keys(given).length !== 1) {
          throw badRequest('Request body and URI mismatch');
        }
        owner.write(context, { ...owner.read(context), [name]: must(given[name], 'given[name]') });
        return { status: 200, body: one(name, must(given[name], 'given[name]')) };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{key}`,
      policy: owner.policy('delete'),
      handle: (context) => {
        const { [context.param('key')]: removed, ...rest } = owner.read(context);
        if (removed === undefined) throw notFound(owner.unknown(context, context.param('key')));
        owner.write(context, rest);
        return { status: owner.deleted };
      },
    },
  ];
  if (!owner.isReplaceable) return routes;
  return [
    ...routes,
    { method: 'PUT', path, policy: owner.policy('update'), handle: (context) => write(context, 'replace') },
  ];
}

/** Reads an entry without a wrapper. It is wrapped to be parsed the same way. */
function bare(body: unknown): Texts {
  return readTexts('extra_specs', { extra_specs: body });
}
