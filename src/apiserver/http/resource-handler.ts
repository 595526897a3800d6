import {
  asJson,
  type JsonObject,
  must,
  type Schema,
  statusError,
  type UnstructuredObject,
  type Verb,
} from '../../machinery/index.ts';
import { decodeObject } from '../service/decode.ts';
import type { PatchKind } from '../service/patch.ts';
import type { ResourceApi } from '../service/resource-api.ts';
import { type Caller, type NamedTarget, namedTarget, type Target } from '../service/types.ts';
import { checkSubresourceBody } from '../subresources/body-types.ts';
import { handleScale } from '../subresources/scale.ts';
import { textOffers } from '../subresources/text-messages.ts';
import type { SubresourceAnswer, SubresourceHandler, SubresourceHandlers } from '../subresources/types.ts';
import { type BodyLimits, parseApplyBody, parseBody, parsePatchBody, readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import { parseMediaRanges } from './media-types.ts';
import { parseDeleteSettings, parseListSettings, parseWatchSettings, parseWriteSettings } from './options.ts';
import {
  includeObjectOf,
  negotiate,
  negotiateReview,
  type RenderContext,
  sendList,
  sendRecord,
  sendReview,
  sendValue,
  sendWritten,
} from './render.ts';
import type { RequestPath } from './request-path.ts';
import { WatchResponse } from './watch-response.ts';

export type ResourcePath = Extract<RequestPath, { type: 'resource' }>;

/** Answers a create of a kind that is never stored, such as SubjectAccessReview. */
export type ReviewHandler = (review: UnstructuredObject, target: Target, caller: Caller) => Promise<UnstructuredObject>;

export interface ResourceHandlerOptions {
  api: ResourceApi;
  limits: BodyLimits;
  subresources: SubresourceHandlers;
  /** schema of a shared component, such as io.k8s.api.policy.v1.Eviction */
  schemaOf(component: string): Schema;
  /** keyed by `<group>/<plural>` */
  reviews: ReadonlyMap<string, ReviewHandler>;
}

/** Serves requests on resources: decodes the request, calls the verb and renders the response. */
export class ResourceHandler {
  readonly #options: ResourceHandlerOptions;

  constructor(options: ResourceHandlerOptions) {
    this.#options = options;
  }

  handle(exchange: Exchange, path: ResourcePath, verb: Verb, caller: Caller): Promise<void> {
    const target = this.#resolve(path, verb);
    if (path.subresource !== undefined) return this.#subresource(exchange, path, target, verb, caller);
    const { definition } = target.resource;
    if (!definition.verbs.includes(verb)) throw statusError.methodNotAllowed();
    // Refuse unacceptable representations before anything is done.
    if (this.#options.reviews.has(`${definition.group}/${definition.plural}`)) negotiateReview(exchange);
    else negotiate(exchange, target.resource.isCustom);
    this.#warnDeprecated(exchange, target);
    switch (verb) {
      case 'get':
        return this.#get(exchange, named(target, path), caller);
      case 'list':
        return this.#list(exchange, target, caller);
      case 'watch':
        return this.#watch(exchange, target, path, caller);
      case 'create':
        return this.#create(exchange, target, path, caller);
      case 'update':
        return this.#update(exchange, named(target, path), undefined, caller);
      case 'patch':
        return this.#patch(exchange, named(target, path), undefined, caller);
      case 'delete':
        return this.#delete(exchange, named(target, path), caller);
      case 'deletecollection':
        return this.#deleteCollection(exchange, target, caller);
    }
  }

  #resolve(path: ResourcePath, verb: Verb): Target {
    const { api } = this.#options;
    const target = api.resolve(path.group, path.version, path.plural, path.namespace);
    const { namespaced } = target.resource.definition;
    if (!namespaced && path.namespace !== undefined) throw statusError.pathNotFound();
    const acrossNamespaces = verb === 'list' || verb === 'watch';
    if (namespaced && path.namespace === undefined && !(acrossNamespaces && path.name === undefined)) {
      // The collection across namespaces is read-only.
      throw path.name === undefined && verb === 'deletecollection'
        ? statusError.methodNotAllowed()
        : statusError.pathNotFound();
    }
    return target;
  }

  #warnDeprecated(exchange: Exchange, target: Target): void {
    const { version } = target;
    if (!version.deprecated) return;
    const { kind } = target.resource.definition;
    exchange.warn(version.deprecationWarning ?? `${target.apiVersion} ${kind} is deprecated`);
  }

  #renderContext(): RenderContext {
    return { nowMs: this.#options.api.context.clock.now(), protobuf: this.#options.limits.protobuf };
  }

  async #get(exchange: Exchange, target: NamedTarget, caller: Caller): Promise<void> {
    const record = await this.#options.api.get(target, caller, exchange.query.get('resourceVersion') ?? undefined);
    await sendRecord(exchange, target, record, this.#renderContext());
  }

  async #list(exchange: Exchange, target: Target, caller: Caller): Promise<void> {
    const page = await this.#options.api.list(target, caller, parseListSettings(exchange.query));
    await sendList(exchange, target, page, this.#renderContext());
  }

  async #watch(exchange: Exchange, target: Target, path: ResourcePath, caller: Caller): Promise<void> {
    const settings = parseWatchSettings(exchange.query);
    if (path.name !== undefined) settings.fieldSelector = `metadata.name=${path.name}`;
    const representation = negotiate(exchange, target.resource.isCustom);
    const includeObject = includeObjectOf(exchange);
    const { api } = this.#options;
    // Headers are sent only once the watch is accepted, so the sink is created on first use.
    let response: WatchResponse | undefined;
    const open = (): WatchResponse => {
      response ??= new WatchResponse(exchange, target, {
        representation: representation.encoding === 'json' ? representation : { ...representation, encoding: 'json' },
        includeObject,
        now: () => api.context.clock.now(),
      });
      return response;
    };
    const stop = await api.watch(target, caller, settings, {
      deliver: (deliveries) => open().deliver(deliveries),
      ready: () => open().ready(),
      end: () => open().end(),
      cut: () => open().cut(),
    });
    open();
    if (!exchange.gone) await new Promise<void>((resolve) => exchange.output.once('close', resolve));
    stop();
  }

  async #create(exchange: Exchange, target: Target, path: ResourcePath, caller: Caller): Promise<void> {
    if (path.name !== undefined) throw statusError.methodNotAllowed();
    const settings = parseWriteSettings(exchange, 'CreateOptions');
    const { api, limits, reviews } = this.#options;
    const { definition } = target.resource;
    const bytes = await readBody(exchange, limits.maxBytes);
    const body = parseBody(exchange, bytes, {
      limits,
      kind: definition.kind,
      largeIntegers: target.resource.largeIntegers,
    });
    const review = reviews.get(`${definition.group}/${definition.plural}`);
    if (review) {
      const draft = decodeObject(body, target, caller, settings.fieldValidation);
      const answer = await review(draft, target, caller);
      return sendReview(exchange, answer, this.#renderContext());
    }
    const written = await api.create(target, body, caller, settings);
    return sendWritten(exchange, 201, target, written, this.#renderContext());
  }

  async #update(
    exchange: Exchange,
    target: NamedTarget,
    subresource: string | undefined,
    caller: Caller,
  ): Promise<void> {
    const settings = parseWriteSettings(exchange, 'UpdateOptions');
    const { api, limits } = this.#options;
    const { kind } = target.resource.definition;
    const bytes = await readBody(exchange, limits.maxBytes);
    const body = parseBody(exchange, bytes, { limits, kind, largeIntegers: target.resource.largeIntegers });
    const written = await api.update(target, subresource, body, caller, settings);
    return sendWritten(exchange, written.created ? 201 : 200, target, written, this.#renderContext());
  }

  async #patch(
    exchange: Exchange,
    target: NamedTarget,
    subresource: string | undefined,
    caller: Caller,
  ): Promise<void> {
    const { api, limits } = this.#options;
    const kind = patchKind(exchange, target);
    const settings = parseWriteSettings(exchange, 'PatchOptions');
    const explicitManager = (exchange.query.get('fieldManager') ?? '') !== '';
    const force = exchange.query.get('force');
    checkPatchOptions(kind, explicitManager, force);
    const bytes = await readBody(exchange, limits.maxBytes);
    if (kind === 'apply') {
      const body = parseApplyBody(bytes, target.resource.largeIntegers);
      const written = await api.apply({ target, subresource, body, force: force === 'true', caller, settings });
      return sendWritten(exchange, written.created ? 201 : 200, target, written, this.#renderContext());
    }
    const { value, duplicateFields } = parsePatchBody(bytes, target.resource.largeIntegers);
    const written = await api.patch({ target, subresource, kind, patch: value, duplicateFields, caller, settings });
    return sendWritten(exchange, 200, target, written, this.#renderContext());
  }

  async #delete(exchange: Exchange, target: NamedTarget, caller: Caller): Promise<void> {
    const settings = parseDeleteSettings(exchange.query, await this.#optionalBody(exchange));
    const { definition } = target.resource;
    const result = await this.#options.api.delete(target, caller, settings);
    if (!result.gone) {
      const written = { object: result.object, json: undefined, created: false };
      return sendWritten(exchange, 200, target, written, this.#renderContext());
    }
    const details = {
      name: target.name,
      ...(definition.group !== '' && { group: definition.group }),
      kind: definition.plural,
      uid: result.object.metadata.uid,
    };
    const status: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
    sendValue(exchange, 200, status, this.#renderContext());
  }

  async #deleteCollection(exchange: Exchange, target: Target, caller: Caller): Promise<void> {
    const settings = parseDeleteSettings(exchange.query, await this.#optionalBody(exchange));
    const selection = parseListSettings(exchange.query);
    const deleted = await this.#options.api.deleteCollection(target, caller, selection, settings);
    const items: UnstructuredObject[] = [];
    for (const object of deleted) items.push(await target.resource.convert(object, target.version.name));
    const list = {
      kind: target.resource.definition.listKind,
      apiVersion: target.apiVersion,
      metadata: { resourceVersion: String(this.#options.api.context.store.revision) },
      items,
    };
    sendValue(exchange, 200, asJson(list), this.#renderContext());
  }

  async #optionalBody(exchange: Exchange): Promise<unknown> {
    const { limits } = this.#options;
    const bytes = await readBody(exchange, limits.maxBytes);
    return bytes.length === 0 ? undefined : parseBody(exchange, bytes, { limits, kind: 'DeleteOptions' }).value;
  }

  async #subresource(
    exchange: Exchange,
    path: ResourcePath,
    target: Target,
    verb: Verb,
    caller: Caller,
  ): Promise<void> {
    const object = named(target, path);
    const { definition } = target.resource;
    const name = must(path.subresource, 'path.subresource');
    if (name === 'status' && target.version.hasStatus) {
      if (verb === 'get') return this.#get(exchange, object, caller);
      if (verb === 'update') return this.#update(exchange, object, name, caller);
      if (verb === 'patch') return this.#patch(exchange, object, name, caller);
      throw statusError.methodNotAllowed();
    }
    const handler = this.#findSubresource(target, name, verb);
    if (!handler) throw statusError.pathNotFound();
    const declaredKind = definition.subresources.find((subresource) => subresource.name === name)?.kind;
    // Subresources with the kind of the object itself, such as approval, accept patches.
    if (verb === 'patch' && declaredKind === definition.kind) return this.#patch(exchange, object, name, caller);
    const settings = parseWriteSettings(exchange, verb === 'create' ? 'CreateOptions' : 'UpdateOptions');
    const base = { context: this.#options.api.context, target: object, verb, caller, settings, query: exchange.query };
    const { limits } = this.#options;
    let answer: SubresourceAnswer;
    if (verb === 'patch') {
      const kind = patchKind(exchange, object);
      if (kind === 'apply')
        throw statusError.unsupportedMediaType(`apply is not supported on ${definition.plural}/${name}`);
      const { value } = parsePatchBody(await readBody(exchange, limits.maxBytes));
      answer = await handler({ ...base, body: undefined, patch: { kind, value } });
    } else {
      const bytes = verb === 'get' ? Buffer.alloc(0) : await readBody(exchange, limits.maxBytes);
      const kind = declaredKind ?? definition.kind;
      const body = bytes.length === 0 ? undefined : parseBody(exchange, bytes, { limits, kind });
      if (body) checkSubresourceBody(body.value, name === 'scale' ? 'Scale' : kind, this.#options.schemaOf);
      answer = await handler({ ...base, body });
    }
    await this.#sendAnswer(exchange, target, answer);
  }

  #findSubresource(target: Target, name: string, verb: Verb): SubresourceHandler | undefined {
    const { definition } = target.resource;
    if (name === 'scale' && target.version.scale) {
      if (verb !== 'get' && verb !== 'update' && verb !== 'patch') throw statusError.methodNotAllowed();
      return handleScale;
    }
    const declared = definition.subresources.find((subresource) => subresource.name === name);
    if (!declared) return undefined;
    if (!declared.verbs.includes(verb)) throw statusError.methodNotAllowed();
    return this.#options.subresources.get(`${definition.group}/${definition.plural}/${name}`);
  }

  async #sendAnswer(exchange: Exchange, target: Target, answer: SubresourceAnswer): Promise<void> {
    switch (answer.type) {
      case 'value':
        return sendValue(exchange, answer.code, answer.value, this.#renderContext(), answer.printer);
      case 'written':
        return sendWritten(exchange, answer.code, target, answer.written, this.#renderContext());
      case 'text': {
        if (exchange.wire.upgrade) {
          await exchange.wire.upgrade(textOffers(answer.text));
          exchange.statusCode = 101;
          return;
        }
        if (typeof answer.text === 'string') return exchange.sendText(200, answer.text);
        exchange.writeHead(200, { 'content-type': 'text/plain' });
        for await (const chunk of answer.text) {
          if (exchange.gone) return;
          // Waits for the client to read before fetching more.
          if (!exchange.output.write(chunk)) await drained(exchange);
        }
        exchange.end();
        return;
      }
      case 'conversation': {
        const { wire } = exchange;
        if (!wire.upgrade) throw statusError.badRequest('Upgrade request required');
        await wire.upgrade(answer.offers);
        exchange.statusCode = 101;
      }
    }
  }
}

/** Resolves when the client has read on or disconnected. */
function drained({ output, gone }: Exchange): Promise<void> | undefined {
  if (gone) return undefined;
  return new Promise((resolve) => {
    const done = (): void => {
      output.off('drain', done);
      output.off('close', done);
      resolve();
    };
    output.on('drain', done);
    output.on('close', done);
  });
}

function named(target: Target, path: ResourcePath): NamedTarget {
  if (path.name === undefined) throw statusError.methodNotAllowed();
  return namedTarget(target, path.name);
}

const patchTypes: ReadonlyMap<string, PatchKind | 'apply'> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
]);

function patchKind(exchange: Exchange, target: Target): PatchKind | 'apply' {
  const type = parseMediaRanges(exchange.header('content-type') ?? '')[0]?.type ?? '';
  const kind = patchTypes.get(type);
  if (kind && !(kind === 'strategic' && target.resource.isCustom)) return kind;
  const supported = [...patchTypes.keys()].filter(
    (name) => !(target.resource.isCustom && name === 'application/strategic-merge-patch+json'),
  );
  throw statusError.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
  );
}

function checkPatchOptions(kind: PatchKind | 'apply', explicitManager: boolean, force: string | null): void {
  if (kind === 'apply' && !explicitManager) {
    throw statusError.invalid('meta.k8s.io', 'PatchOptions', '', [
      { type: 'Required', field: 'fieldManager', detail: 'is required for apply patch' },
    ]);
  }
  if (kind !== 'apply' && force !== null) {
    throw statusError.invalid('meta.k8s.io', 'PatchOptions', '', [
      { type: 'Forbidden', field: 'force', detail: 'may not be specified for non-apply patch' },
    ]);
  }
}
