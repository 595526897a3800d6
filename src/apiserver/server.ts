import {
  allVerbs,
  type Clock,
  type KubeObject,
  type ProtobufRegistry,
  type Random,
  type ResourceDefinition,
  type Schema,
  type Status,
  statusError,
  systemClock,
  systemRandom,
  type Verb,
} from '../machinery/index.ts';
import type { Store } from '../store/index.ts';
import { type AdmissionPlugin, builtInAdmission } from './admission/built-in.ts';
import { AdmissionChain, type AdmissionStep } from './admission/index.ts';
import { namespaceLifecycle } from './admission/namespace-lifecycle.ts';
import type { Aggregation } from './aggregation.ts';
import type { Auditor, AuditResponse, AuditTrail } from './audit/index.ts';
import {
  AccessControl,
  type AccessControlOptions,
  type AuthorizationAttributes,
  jwksPath,
  loopbackUser,
  openIdConfigurationPath,
  type UserInfo,
} from './auth/index.ts';
import { startRoleAggregation } from './auth/role-aggregation.ts';
import { ensureBootstrapObjects } from './bootstrap.ts';
import { CrdLifecycle, nativeDefinitionsStay, publishNativeKinds, withCrdStrategy } from './crd/index.ts';
import { Discovery } from './discovery/index.ts';
import { FlowControl, type FlowLimits } from './flow/index.ts';
import { backupPath, handleBackup } from './http/backup-endpoint.ts';
import { HttpCaller } from './http/caller.ts';
import { Exchange, toStatusError } from './http/exchange.ts';
import {
  type HealthCheck,
  handleInfo,
  type InfoHandlerOptions,
  isHealthPath,
  type VersionInfo,
} from './http/info-handler.ts';
import { type Acceptor, acceptor, type Listener, listen } from './http/listener.ts';
import { attributesOf, verbOf } from './http/request-attributes.ts';
import { attemptedCredentials, refuseOversizedHead } from './http/request-head.ts';
import { allowsMethod, parseRequestPath, type RequestPath } from './http/request-path.ts';
import { ResourceHandler, type ReviewHandler } from './http/resource-handler.ts';
import type { Wire } from './http/wire.ts';
import { LocalClient, type WantsWhole } from './local-client.ts';
import { ApiServerMetrics, type RequestLabels } from './metrics.ts';
import { OpenApi } from './openapi/index.ts';
import { admissionPolicies } from './policies/policy-admission.ts';
import { PolicyBook } from './policies/policy-book.ts';
import { startPolicyStatus } from './policies/policy-status.ts';
import { resourceQuotas } from './quota/quota-admission.ts';
import { QuotaBook } from './quota/quota-book.ts';
import { Registry } from './registry/index.ts';
import { reviewHandlers } from './reviews.ts';
import { ResourceApi } from './service/resource-api.ts';
import { parseServiceCidr, type ServiceRange, serviceAddresses } from './services/address-allocator.ts';
import { kubernetesService } from './services/kubernetes-service.ts';
import { startExpirySweeper } from './storage/expiry-sweeper.ts';
import type { StoredObject } from './storage/stored-object.ts';
import { handleCsrApproval } from './subresources/csr-approval.ts';
import { handleNamespaceFinalize } from './subresources/namespace-finalize.ts';
import { handlePodBinding } from './subresources/pod-binding.ts';
import {
  type PodConnector,
  podAttachHandler,
  podExecHandler,
  podPortForwardHandler,
} from './subresources/pod-connect.ts';
import { handlePodEviction } from './subresources/pod-eviction.ts';
import type { PodAttacher, PodExecutor } from './subresources/pod-exec.ts';
import { type PodLogSource, podLogHandler } from './subresources/pod-log.ts';
import { serviceAccountTokenHandler } from './subresources/service-account-token.ts';
import type { SubresourceHandlers } from './subresources/types.ts';
import {
  admissionWebhooks,
  convertByWebhook,
  storeServiceResolver,
  WebhookClient,
  WebhookConfigurations,
  type WebhookConnector,
} from './webhooks/index.ts';

export interface ApiServerOptions {
  store: Store<StoredObject>;
  /** all compiled-in kinds: built-in kinds and our own */
  definitions: readonly ResourceDefinition[];
  /** shared components of meta/v1 for OpenAPI */
  metaSchema(component: string): Schema;
  protobuf: ProtobufRegistry;
  access: AccessControlOptions;
  clock?: Clock;
  random?: Random;
  auditor?: Auditor;
  /** CIDR of Service addresses; default 10.96.0.0/16 */
  serviceCidr?: string;
  podLogs?: PodLogSource;
  /** connects to ports of Pods; without it, port forwarding is not available */
  podConnector?: PodConnector;
  /** connects to the Service address of a webhook; default: the network of this host */
  connectWebhook?: WebhookConnector;
  /** groups served by other servers; default: none */
  aggregation?: Aggregation;
  /** runs commands in containers */
  podExecutor?: PodExecutor;
  /** attaches to the output of containers */
  podAttacher?: PodAttacher;
  /** called before every resource request: it may delay the request, and an error it throws is the response */
  gate?(): Promise<void> | undefined;
  /** disables built-in admission steps, such as those that need a controller that does not run */
  admissionPlugins?: { disable?: readonly AdmissionPlugin[] };
  /** additional admission steps, after the built-in ones */
  admission?(context: ResourceApi): readonly AdmissionStep[];
  /** objects to create on the first start, besides the usual ones */
  bootstrapObjects?: readonly KubeObject[];
  healthChecks?: readonly HealthCheck[];
  version?: Partial<VersionInfo>;
  /** limits for the requests of all users; see FlowControl */
  flow?: Partial<FlowLimits>;
  /** unexpected errors: bugs, disk errors */
  onError?(error: unknown, what: string): void;
}

const maxBodyBytes = 3 * 1024 * 1024;

const defaultVersion: VersionInfo = {
  major: '1',
  minor: '34',
  gitVersion: 'v1.34.0+capstan',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};

/** Forwards a request to another server after local authorization. */
async function serveAggregated(
  exchange: Exchange,
  aggregation: Aggregation,
  group: string,
  version: string,
): Promise<void> {
  if (exchange.method !== 'GET') throw statusError.methodNotAllowed();
  const query = exchange.query.toString();
  const path = query === '' ? exchange.path : `${exchange.path}?${query}`;
  const { status, body } = await aggregation.get(group, version, path);
  exchange.send(status, 'application/json', Buffer.from(body));
}

/** Creates a Kubernetes API server on a store. A process can have many, because there is no global state. */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const server = new ApiServer(options);
  await server.prepare();
  return server;
}

export class ApiServer {
  readonly api: ResourceApi;
  readonly registry: Registry;
  readonly access: AccessControl;
  readonly metrics: ApiServerMetrics;
  readonly #options: ApiServerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #auditor: Auditor | undefined;
  readonly #resources: ResourceHandler;
  readonly #subresources: SubresourceHandlers;
  readonly #reviews: ReadonlyMap<string, ReviewHandler>;
  readonly #info: InfoHandlerOptions;
  readonly #healthChecks: HealthCheck[] = [];
  readonly #crds: CrdLifecycle;
  readonly #webhooks: WebhookClient;
  readonly #webhookConfigurations: WebhookConfigurations;
  readonly #serviceRange: ServiceRange;
  readonly #policies: PolicyBook;
  readonly #quotas: QuotaBook | undefined;
  readonly #stopSweeper: () => void;
  readonly #stopAggregation: () => Promise<void>;
  readonly #stopPolicyStatus: () => Promise<void>;
  readonly #listeners = new Set<Listener>();
  readonly #acceptors = new Set<Acceptor>();
  readonly #openWatches = new Set<Exchange>();
  readonly #flow: FlowControl;
  #stopping = false;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#auditor = options.auditor;
    this.#flow = new FlowControl(options.flow);
    const { store } = options;
    this.registry = new Registry();
    const native = new Map<string, ResourceDefinition>();
    for (const definition of options.definitions) {
      const isCrd = definition.group === 'apiextensions.k8s.io' && definition.kind === 'CustomResourceDefinition';
      this.registry.set(isCrd ? withCrdStrategy(definition, native) : definition);
      if (definition.origin === 'custom') native.set(`${definition.plural}.${definition.group}`, definition);
    }
    const admission = new AdmissionChain();
    const without = new Set<string>(options.admissionPlugins?.disable);
    const add = (...steps: readonly AdmissionStep[]): void => {
      for (const step of steps) if (!without.has(step.name)) admission.add(step);
    };
    this.access = new AccessControl(options.access, { store, clock: this.#clock, random: this.#random });
    this.api = new ResourceApi({
      store,
      registry: this.registry,
      admission,
      clock: this.#clock,
      random: this.#random,
      checkMayCreate: (user, { resource: { definition }, version, namespace, name }) => {
        const { group, plural, namespaced } = definition;
        const resource = { group, version: version.name, plural, namespaced };
        this.access.checkInProcess(user)?.({ verb: 'create', resource, namespace, name });
      },
    });
    add(namespaceLifecycle(store), nativeDefinitionsStay(native, store));
    const nodes = options.access.nodes ?? false;
    add(...builtInAdmission({ store, access: this.access, clock: this.#clock, random: this.#random, nodes }));
    this.#serviceRange = parseServiceCidr(options.serviceCidr ?? '10.96.0.0/16');
    add(serviceAddresses(store, this.#serviceRange, this.#clock));
    this.#policies = new PolicyBook(store, (error, what) => this.#report(error, what));
    const { context } = this.api;
    add(admissionPolicies({ book: this.#policies, context, authorizer: this.access.authorizer }));
    this.#webhooks = new WebhookClient(storeServiceResolver(store), options.connectWebhook);
    this.#webhookConfigurations = new WebhookConfigurations(store, (error, what) => this.#report(error, what));
    add(
      admissionWebhooks({
        configurations: this.#webhookConfigurations,
        client: this.#webhooks,
        store,
        authorizer: this.access.authorizer,
        random: this.#random,
        onIgnoredFailure: (webhook, error) => this.#report(error, `webhook ${webhook}, ignored as its policy says`),
      }),
    );
    add(...(options.admission?.(this.api) ?? []));
    if (!without.has('ResourceQuota')) {
      this.#quotas = new QuotaBook(this.api, (error) => this.#report(error, 'status of a quota'));
      add(resourceQuotas(this.#quotas, (key) => store.head(key) !== undefined));
    }

    this.#subresources = new Map([
      ['/namespaces/finalize', handleNamespaceFinalize],
      ['/pods/attach', podAttachHandler(options.podAttacher)],
      ['/pods/binding', handlePodBinding],
      ['/pods/eviction', handlePodEviction],
      ['/pods/exec', podExecHandler(options.podExecutor)],
      ['/pods/log', podLogHandler(options.podLogs)],
      ['/pods/portforward', podPortForwardHandler(options.podConnector)],
      ['/serviceaccounts/token', serviceAccountTokenHandler(this.access)],
      ['certificates.k8s.io/certificatesigningrequests/approval', handleCsrApproval],
    ]);
    this.#reviews = reviewHandlers(this.access, this.#clock);
    this.#resources = new ResourceHandler({
      api: this.api,
      limits: { maxBytes: maxBodyBytes, protobuf: options.protobuf },
      subresources: this.#subresources,
      schemaOf: options.metaSchema,
      reviews: this.#reviews,
    });
    this.metrics = new ApiServerMetrics(store, this.registry);
    const version = { ...defaultVersion, ...options.version };
    this.#healthChecks.push({ name: 'ping', in: ['livez', 'readyz'], check() {} }, ...(options.healthChecks ?? []));
    this.#info = {
      discovery: new Discovery(this.registry),
      openApi: new OpenApi(this.registry, options.metaSchema, version.gitVersion),
      version,
      healthChecks: this.#healthChecks,
      metrics: () => this.metrics.render(),
      documents: this.#documents(),
      serverAddress: () => [...this.#listeners].map(({ host, port }) => `${host}:${port}`)[0] ?? '',
      now: () => this.#clock.now(),
      ...(options.aggregation && { aggregation: options.aggregation }),
    };
    this.#healthChecks.push({
      name: 'shutdown',
      in: ['readyz'],
      check: () => {
        if (this.#stopping) throw new Error('the server is stopping');
      },
    });
    this.#crds = new CrdLifecycle({
      api: this.api,
      native,
      onError: (error, name) => this.#report(error, `customresourcedefinition ${name}`),
      convertByWebhook: (crd, object, toVersion) =>
        convertByWebhook(this.#webhooks, this.#random, { crd, object, toVersion }),
    });
    this.#stopPolicyStatus = startPolicyStatus(this.api, (error) => this.#report(error, 'status of a policy'));
    this.#stopAggregation = startRoleAggregation(this.api, (error) => this.#report(error, 'aggregation of roles'));
    this.#stopSweeper = startExpirySweeper(this.api.context, (error) => this.#report(error, 'expiry of events'));
  }

  /** Creates the initial objects of every Kubernetes API server. */
  async prepare(): Promise<void> {
    const kubernetes = kubernetesService(this.#serviceRange);
    await ensureBootstrapObjects(this.api, [kubernetes, ...(this.#options.bootstrapObjects ?? [])]);
    await publishNativeKinds(this.api, this.#options.definitions);
  }

  addHealthCheck(check: HealthCheck): void {
    this.#healthChecks.push(check);
  }

  /** Returns a client for controllers in the same process; see LocalClient. */
  localClient(user: UserInfo = loopbackUser, wantsWhole?: WantsWhole): LocalClient {
    const handlers = { subresources: this.#subresources, reviews: this.#reviews };
    return new LocalClient(this.api, handlers, { user, check: this.access.checkInProcess(user) }, wantsWhole);
  }

  async listen(options: {
    host: string;
    port: number;
    tls: { cert: string; key: string; clientCa: string };
    /** time limit to send a request including its body; default 60 s */
    requestTimeoutMs?: number;
  }): Promise<Listener> {
    const listener = await listen({ ...options, clock: systemClock }, (wire) => this.handle(wire));
    this.#listeners.add(listener);
    return listener;
  }

  /** Serves connections that were accepted elsewhere, with a separate certificate. */
  acceptor(tls: { cert: string; key: string; clientCa: string }): Acceptor {
    const made = acceptor({ tls, clock: systemClock }, (wire) => this.handle(wire));
    const close = (): void => {
      this.#acceptors.delete(tracked);
      made.close();
    };
    const tracked: Acceptor = { ...made, close };
    this.#acceptors.add(tracked);
    return tracked;
  }

  /** Uses this certificate for new connections; open connections continue. */
  setCertificate(tls: { cert: string; key: string; clientCa: string }): void {
    for (const one of [...this.#listeners, ...this.#acceptors]) one.setCertificate(tls);
  }

  /**
   * Ends watches cleanly, finishes pending requests and stops listening. The store belongs to the caller and stays
   * open.
   */
  async stop(deadlineMs = 5000): Promise<void> {
    this.#stopping = true;
    const closing = [...this.#listeners].map((listener) => listener.close(deadlineMs));
    for (const exchange of this.#openWatches) exchange.end();
    await Promise.all(closing);
    this.#stopSweeper();
    await this.#stopAggregation();
    await this.#stopPolicyStatus();
    this.#policies.close();
    await this.#quotas?.close();
    await this.#crds.close();
    this.access.close();
    this.#webhookConfigurations.close();
    await this.#webhooks.close();
  }

  /** Serves one HTTP request; never throws. */
  handle(wire: Wire): void {
    const exchange = new Exchange(wire, this.#auditId(wire));
    wire.output.on('error', ignoreError);
    this.#serve(exchange)
      .catch((error: unknown) => {
        const status = toStatusError(error, (cause) => this.#report(cause, `${exchange.method} ${exchange.path}`));
        exchange.sendStatus(status.status);
      })
      .catch((error: unknown) => {
        // The error response failed, too. The connection must not hang and the process must not exit.
        this.#report(error, `the answer to ${exchange.method} ${exchange.path}`);
        wire.output.destroy();
      });
  }

  async #serve(exchange: Exchange): Promise<void> {
    const wait = this.access.prepare(exchange.header('authorization'));
    if (wait) await wait;
    const path = parseRequestPath(exchange.path);
    const verb = verbOf(exchange, path);
    const sender = this.#identify(exchange);
    const attributes = attributesOf(exchange, path, verb, sender.user);
    const trail = this.#auditor && beginAudit(this.#auditor, exchange, attributes, sender);
    const finish = this.#measure(exchange, attributes);
    let failure: Status | undefined;
    try {
      if (sender.refusal) throw sender.refusal;
      const decision = this.access.check(attributes);
      trail?.authorized(decision);
      exchange.flow = this.#flow.begin(sender.requestor);
      await this.#route(exchange, path, verb, sender.user);
      if (exchange.packing) await exchange.packing;
    } catch (error) {
      const { code, status } = toStatusError(error, (cause) =>
        this.#report(cause, `${exchange.method} ${exchange.path}`),
      );
      failure = status;
      exchange.statusCode = code;
      exchange.sendStatus(status);
    } finally {
      exchange.flow?.end(exchange.output);
      finish();
      trail?.completed(auditResponse(exchange.statusCode, failure, sender.auditMessage));
    }
  }

  /**
   * Returns the sender of a request as far as known. A refusal is returned instead of thrown, so that it is audited,
   * too.
   */
  #identify({ wire, path }: Exchange): Sender {
    const tooLarge = refuseOversizedHead(wire);
    if (tooLarge) return { ...unknownSender, refusal: tooLarge };
    const { authorization } = wire.headers;
    const requestor = this.access.authenticate({ authorization, socket: wire.socket }, path);
    if (!requestor) {
      return { ...unknownSender, refusal: statusError.unauthorized(), auditMessage: attemptedCredentials(wire) };
    }
    try {
      return { requestor, user: this.access.impersonate(wire.rawHeaders, requestor) };
    } catch (error) {
      return { requestor, user: requestor, refusal: error };
    }
  }

  /** Not async, and neither are its callees unless they wait, because each promise layer adds cost to every request. */
  #route(exchange: Exchange, path: RequestPath, verb: Verb | undefined, user: UserInfo): undefined | Promise<unknown> {
    if (path.type === 'other') {
      // Health endpoints must respond regardless of load.
      const turn = isHealthPath(path.path) ? undefined : exchange.flow?.beginRead();
      return turn ? turn.then(() => this.#serveOther(exchange, path.path)) : this.#serveOther(exchange, path.path);
    }
    // An unknown group is no API path, so the response has no Status.
    if (!this.registry.groups().has(path.group)) {
      const { aggregation } = this.#options;
      if (aggregation?.claims(path.group, path.version)) {
        return serveAggregated(exchange, aggregation, path.group, path.version);
      }
      exchange.sendText(404, '404 page not found\n');
      return undefined;
    }
    if (!verb || !allowsMethod(path, exchange.method)) throw statusError.methodNotAllowed();
    const caller = new HttpCaller(exchange, user);
    const wait = this.#options.gate?.();
    const handle = (): Promise<void> => {
      // Writes wait for their turn after their body has been read.
      const turn = reads.has(verb) ? beginReading(exchange, verb) : undefined;
      return turn
        ? turn.then(() => this.#resources.handle(exchange, path, verb, caller))
        : this.#resources.handle(exchange, path, verb, caller);
    };
    return wait ? wait.then(handle) : handle();
  }

  async #serveOther(exchange: Exchange, path: string): Promise<void> {
    if (path === backupPath && exchange.method === 'GET') return handleBackup(exchange, this.#options.store);
    if (!(await handleInfo(exchange, this.#info))) exchange.sendText(404, '404 page not found\n');
  }

  /** Counts the request; returns a function to call at its end. */
  #measure(exchange: Exchange, attributes: AuthorizationAttributes): () => void {
    const { verb } = attributes;
    const labels = this.#labelsOf(attributes);
    if (verb === 'watch') {
      this.metrics.watchStarted();
      this.#openWatches.add(exchange);
      return () => {
        this.#openWatches.delete(exchange);
        this.metrics.watchFinished(labels, exchange.statusCode);
      };
    }
    const mutating = exchange.method !== 'GET' && exchange.method !== 'HEAD';
    const startMs = performance.now();
    this.metrics.started(mutating);
    return () => {
      this.metrics.finished(mutating, labels, exchange.statusCode, (performance.now() - startMs) / 1000);
    };
  }

  /** Clients choose the paths, so only served resources get their own labels. */
  #labelsOf({ verb, group, version, resource, subresource }: AuthorizationAttributes): RequestLabels {
    const served = this.registry.find(group, version, resource);
    if (!served)
      return { verb: countedVerbs.has(verb) ? verb : 'other', group: '', version: '', resource: '', subresource: '' };
    const { definition } = served.resource;
    const known =
      subresource === 'status' ||
      subresource === 'scale' ||
      definition.subresources.some(({ name }) => name === subresource);
    return { verb, group, version, resource, subresource: known ? subresource : '' };
  }

  #documents(): ReadonlyMap<string, () => unknown> {
    const issuer = this.access.tokenIssuer;
    if (!issuer) return new Map();
    return new Map<string, () => unknown>([
      [jwksPath, () => issuer.jwks()],
      [openIdConfigurationPath, () => issuer.openIdConfiguration(`https://${this.#info.serverAddress()}${jwksPath}`)],
    ]);
  }

  #auditId({ headers }: Wire): string {
    const sent = headers['audit-id'];
    return typeof sent === 'string' && /^[\w-]{1,64}$/.test(sent) ? sent : this.#random.uuid();
  }

  #report(error: unknown, what: string): void {
    this.#options.onError?.(error, what);
  }
}

/** The authenticated and the effective user of a request. */
interface Sender {
  user: UserInfo;
  requestor: UserInfo;
  /** error that ends the request */
  refusal?: unknown;
  /** message for the audit log, if the response says less */
  auditMessage?: string;
}

/** The user of unauthenticated requests; their audit events have an empty user. */
const nobody: UserInfo = { name: '', groups: [] };
const unknownSender: Sender = { user: nobody, requestor: nobody };

/**
 * Status codes whose messages are audited. Messages of other refusals may quote the sent object, which can contain
 * secrets.
 */
const auditedMessages: ReadonlySet<number> = new Set([401, 403, 405, 413, 429, 431]);

function auditResponse(code: number, failure: Status | undefined, message?: string): AuditResponse {
  if (!failure) return { code };
  const text = message ?? (auditedMessages.has(failure.code) ? failure.message : undefined);
  return {
    code,
    ...(failure.reason !== undefined && { reason: failure.reason }),
    ...(text !== undefined && { message: text }),
  };
}

function beginAudit(
  auditor: Auditor,
  exchange: Exchange,
  attributes: AuthorizationAttributes,
  { user, requestor }: Sender,
): AuditTrail {
  const { remoteAddress, url } = exchange.wire;
  return auditor.begin({
    auditId: exchange.auditId,
    uri: url,
    attributes,
    ...(user !== requestor && { impersonator: requestor }),
    ...(remoteAddress !== undefined && { sourceIps: [remoteAddress] }),
    userAgent: exchange.header('user-agent') ?? '',
  });
}

const reads: ReadonlySet<Verb> = new Set<Verb>(['get', 'list', 'watch']);

function beginReading({ flow }: Exchange, verb: Verb): Promise<void> | undefined {
  return verb === 'watch' ? flow?.beginWatch() : flow?.beginRead();
}

const countedVerbs: ReadonlySet<string> = new Set([...allVerbs, 'post', 'put', 'head', 'options']);

/** Responses fail when clients disconnect, which is no error here. */
function ignoreError(): void {}
