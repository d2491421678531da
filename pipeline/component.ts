/**
 * THE contract: what receivers, processors, exporters and extensions are, and what the pipeline gives them.
 *
 * A component is a value: an object with its type, its config schema and a `create`. Nothing registers itself; the three
 * registries and `main.ts` list them, and load those that are needed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExtendedJSONSchema, FromSchema, JSONSchema } from 'json-schema-to-ts'
import type { Batch, Source } from './model/batch.ts'
import type { Composed } from './model/compose.ts'
import type { Dependencies } from './model/dependencies.ts'
import type { Labels } from './model/labels.ts'
import type { Layout } from './model/layout.ts'
import type { Plan } from './model/plan.ts'
import type { Tracked } from './model/tracked.ts'

/**
 * A JSON schema, plus `secret: true` for what must never be shown, and `unsupported` for keys that users bring along from
 * elsewhere: why there is no such key here. It is the only declaration of a component's config.
 */
export type ConfigSchema = ExtendedJSONSchema<{ secret: boolean; unsupported: Readonly<Record<string, string>> }> &
  AnySchema

/** What definitions take for a schema. Not `ConfigSchema`: the compiler would work out the config of every schema there can be. */
export type AnySchema = { readonly type: 'object' }

/** The type of the config that a schema describes, with defaults filled in; `any` where the schema is not known. */
export type ConfigOf<S> = 0 extends 1 & S ? any : S extends JSONSchema ? FromSchema<S> : never

/** What all definitions have. `create` and its relatives get the config as the schema describes it, with defaults filled in. */
type Definition<S extends AnySchema> = {
  /** lower_snake_case; the id in a config is `type` or `type/name`. */
  readonly type: string
  /** Older spellings, accepted with a warning. */
  readonly aliases?: readonly string[]
  /** One sentence. */
  readonly summary: string
  readonly config: S
  /** A config that works, shown in the reference. */
  readonly example: unknown
  /** Finds what a schema cannot say (a regular expression that does not compile). Paths are keys from the component's config down. */
  readonly check?: (config: ConfigOf<S>) => readonly Problem[]
  /** A list whose entries are checked each by itself: those that a schema refuses are left out, and do not hide what is wrong with others. */
  readonly checksEach?: string
  /** The addresses (`host:port`) that it listens on, with the place where the config says so. */
  readonly listens?: (config: ConfigOf<S>) => readonly { address: string; path: readonly (string | number)[] }[]
}

export type Problem = {
  /** Where something is missing: the path that it would have. */
  readonly path: readonly (string | number)[]
  readonly message: string
  /** The key at the path is wrong, not its value. */
  readonly isOfKey?: true
}

/** A rule of a Role, or, without namespaces, of a ClusterRole. */
export type RbacRule = {
  /** The API group, '' for core. */
  readonly group: string
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  /** Where; everywhere if this is missing. */
  readonly namespaces?: readonly string[]
  /** For whoever reads the manifest: a few words, without the name of the component. */
  readonly why: string
  /** What else they should know, in lines; it stands above the manifest, once. */
  readonly note?: string
}

/** Hands a batch on. Throws `RefusedError` if nobody downstream takes it now; every other failure is dealt with where it happens. */
export type Next = (batch: Batch) => void

export type ReceiverDefinition<S extends AnySchema = any> = Definition<S> & {
  /** What it must be allowed to read of Kubernetes, for `gpucol rbac`. */
  readonly rbac?: (config: ConfigOf<S>, catalogs: Catalogs) => readonly RbacRule[]
  create(config: ConfigOf<S>, host: Host, next: Next): Receiver
}
export type ProcessorDefinition<S extends AnySchema = any> = Definition<S> & {
  create(config: ConfigOf<S>, host: Host, next: Next): Processor
}
export type ExporterDefinition<S extends AnySchema = any> = Definition<S> & {
  create(config: ConfigOf<S>, host: Host): Exporter
}
export type ExtensionDefinition<S extends AnySchema = any> = Definition<S> & {
  create(config: ConfigOf<S>, host: ExtensionHost): Extension
}

export function defineReceiver<const S extends AnySchema>(definition: ReceiverDefinition<S>): ReceiverDefinition<S> {
  return definition
}
export function defineProcessor<const S extends AnySchema>(definition: ProcessorDefinition<S>): ProcessorDefinition<S> {
  return definition
}
export function defineExporter<const S extends AnySchema>(definition: ExporterDefinition<S>): ExporterDefinition<S> {
  return definition
}
export function defineExtension<const S extends AnySchema>(definition: ExtensionDefinition<S>): ExtensionDefinition<S> {
  return definition
}

/**
 * Creating opens nothing and starts nothing. `start` may be called once; it settles when the component works (a listener is
 * bound) and rejects if it cannot. `stop` may be called without `start`, and twice; after it settles the component does nothing
 * any more, and it settles by `deadlineMs` of the host's monotonic clock at the latest. `consume` may be called before `start`
 * has settled: at a reload batches go to the new component while the old one still gives up its port.
 */
type Life = {
  start?(): void | Promise<void>
  stop?(deadlineMs: number): void | Promise<void>
  /** What it does or where to look, in a few words, once it runs: `4 targets every 15s`, `http://127.0.0.1:9464/metrics`. */
  describe?(): string
}

export type Receiver = Life & {
  /** What it scrapes, and what it found and leaves alone; only receivers that pull have targets. */
  targets?(): Targets
}

/** For people who wonder why a number is missing. */
export type Targets = {
  readonly active: readonly TargetStatus[]
  readonly dropped: readonly DroppedTarget[]
  /** All that were dropped; where there are very many, the list has the first. */
  readonly droppedCount: number
}
export type TargetStatus = {
  /** Without user and password. */
  readonly url: string
  readonly labels: Labels
  readonly node?: string
  /** Unknown until the first scrape is over. */
  readonly state: 'up' | 'down' | 'unknown'
  readonly intervalMs: number
  readonly lastScrape?: {
    readonly timeMs: number
    readonly durationSeconds: number
    readonly samples: number
    readonly error?: string
  }
}
export type DroppedTarget = {
  /** Before relabelling. */
  readonly labels: Labels
  readonly reason: string
}

/** Reads batches, hands on the same, others or none, and writes into nothing it was given. */
export type Processor = Life & {
  consume(batch: Batch): void
  /** Hands on now what would be handed on at the next interval. Config tests call it at each step. */
  flush?(): void
  /**
   * What it does with batches of a source for as long as neither their layout nor any metadata changes; undefined where that cannot be
   * said now. Processors in a row that all can say it are run as one (`graph/routes.ts`), without `consume`, which has had a batch
   * with this layout before and gets the next one for which it does not hold.
   */
  step?(source: Source, layout: Layout): Step | undefined
  /**
   * Lets go of what it has made to answer `step`, and says on what metadata the answer hangs: it is asked again when any of that changes.
   * Without it what was made stays with the processor.
   */
  release?(source: Source): readonly Dependencies[]
  /** Called when metadata has changed, before anybody looks at what a released answer hangs on: some of it may be the processor's own. */
  refresh?(): void
  /**
   * From now on `listener`, and no other, is told of each source of which the processor has handed on the last batch by itself, because it
   * held it back: all of them on one occasion.
   */
  tellCaughtUp?(listener: (source: Source) => void): void
}

/** A plan without folds, and what else is to be done with every batch that has a sample in every column. */
export type Step = {
  readonly plan: Plan
  /** Sees what comes in. */
  readonly before?: Watch
  /** Sees what the plan has made of it. */
  readonly after?: Watch
  /** Counts. */
  readonly each?: () => void
}

/**
 * Sees batches that have come some way: as they set out, since whoever needs a few of the numbers finds them by the way, and moving all of
 * them would be most of the work. `runComposed` of both is the batch as it is there.
 */
export type Watch = {
  see(batch: Batch, way: Composed): void
  /** Of the layout at the end of the way it asks for no label sets, because it has seen it before. */
  readonly knowsLabels?: boolean
}

/** Takes batches. May hold a batch until it is delivered. */
export type Exporter = Life & {
  consume(batch: Batch): void
  /** Delivery comes after `consume`: the exporter itself counts what was sent and what was not. */
  readonly countsDelivery?: true
}

export type Extension = Life

/** Time, network, disk and the outside world are reached through this and nothing else, so that a pipeline can run on a virtual clock. */
export type Host = {
  /** The component's id as the config has it. */
  readonly id: string
  /** The pipeline that a processor is part of; others are part of several. */
  readonly pipeline?: string
  readonly log: Log
  readonly counters: Counters
  readonly clock: Clock
  readonly network: Network
  readonly cluster: Cluster
  readonly catalogs: Catalogs
  readonly storage: Storage
  readonly memory: Memory
  readonly demand: Demand
}

/** What is asked for now, between exporters that are asked and processors that make something at an interval. */
export type Demand = {
  /** Whoever answers hands on what it has before this returns. */
  ask(): void
  /** Until the returned function is called. */
  answer(run: () => void): () => void
}

/** Extensions also see the service as a whole. */
export type ExtensionHost = Host & { readonly service: ServiceView }

/** The running service, as health checks and the web page see it. */
export type ServiceView = {
  readonly version: string
  state(): ServiceState
  components(): readonly ComponentStatus[]
  /** By receiver, those that have targets. */
  targets(): ReadonlyMap<string, Targets>
  /** Reads the config again; resolves to what happened. The old graph goes on if the new config is bad. */
  reload(): Promise<ReloadResult>
}
export type ServiceState = 'starting' | 'running' | 'stopping' | 'stopped'
export type ReloadResult =
  | { readonly ok: true; readonly changed: readonly string[] }
  | { readonly ok: false; readonly error: string }
export type ComponentStatus = {
  readonly kind: 'receiver' | 'processor' | 'exporter' | 'extension'
  readonly id: string
  /** Only processors: they exist once per pipeline. */
  readonly pipeline?: string
  readonly state: 'starting' | 'ok' | 'failing' | 'stopped'
  /** What fails. */
  readonly message?: string
  /** What it does, as it describes itself. */
  readonly about?: string
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

export type Log = {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  /** Something went wrong and was dealt with. */
  warn(message: string, fields?: LogFields): void
  /** Data is lost, or an operator is needed. */
  error(message: string, fields?: LogFields): void
  /**
   * Says once that a subject (a target, a destination) fails, and once that it is well again, however often it is called: one
   * line per change of state. A subject that was never failing is well silently. Also shown as the component's status.
   */
  state(subject: string, state: 'ok' | 'failing' | 'gone', message?: string, fields?: LogFields): void
}

/**
 * Own telemetry. Names are rows of the table in `telemetry/own-metrics.ts`; the label that names the component is added by the host.
 * Count per batch, not per sample.
 */
export type Counters = {
  add(name: string, amount: number, labels?: Readonly<Record<string, string>>): void
  /** For histograms. */
  record(name: string, value: number, labels?: Readonly<Record<string, string>>): void
  /** `add` and `record` for what happens with every batch: the name is looked up once. */
  counter(name: string, labels?: Readonly<Record<string, string>>): (amount: number) => void
  histogram(name: string, labels?: Readonly<Record<string, string>>): (value: number) => void
  /** `read` is asked at every collection, until the returned function is called. */
  observe(name: string, read: () => readonly { value: number; labels?: Readonly<Record<string, string>> }[]): () => void
}

export type Clock = {
  /** Wall clock in milliseconds since 1970; may step. */
  now(): number
  /** Milliseconds since some moment; never steps. Deadlines are in this. */
  monotonic(): number
  /** Runs once after a delay; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void
  /** True on the virtual clock of config tests, where what happens at an interval happens exactly at its multiples from the start. */
  readonly aligned?: boolean
}

/** The one way out. */
export type Network = {
  /**
   * Sends one request and calls the handler: `head` once, `chunk` for each piece of the body as it arrives, then `end` or `failed`,
   * exactly one of the two and nothing after it. `failed` may come at any time. The returned function cancels: nothing is called
   * after it. Bodies arrive as sent, that is, compressed if the server compressed them.
   */
  request(request: NetworkRequest, handler: ResponseHandler): () => void
  /** Serves HTTP at `host:port`. Rejects with a sentence that names the address if that cannot be had. Binds nothing in config tests. */
  listen(
    endpoint: string,
    handle: (request: IncomingMessage, response: ServerResponse) => void,
    options?: ListenOptions | (() => ListenOptions),
  ): Promise<Listener>
  /** Asks the DNS. Rejects with a sentence if there is no answer; a name that does not exist has no records. */
  resolve(name: string, type: DnsType): Promise<readonly DnsRecord[]>
  /** Where the Kubernetes API is, whatever a config and its credentials say: the API that a config test has. */
  readonly kubernetesUrl?: string
}
export type DnsType = 'A' | 'AAAA' | 'SRV'
/** An address, or, for SRV, the name and port of a server. */
export type DnsRecord = { readonly host: string; readonly port?: number }
/** A function that gives them is called before it is bound: in config tests never, so that these need no certificates. */
export type ListenOptions = {
  /** Its CA is for the clients. A function is asked for each new connection, and gives the same object while nothing has changed. */
  readonly tls?: TlsOptions | (() => TlsOptions)
  /** For each request: undefined if it may be answered, else what the client has to bring, one WWW-Authenticate header each. */
  readonly authorize?: (request: IncomingMessage) => readonly string[] | undefined
}
/** `address` is `host:port` with the true port, where port 0 was asked for. `close` ends connections that are idle, then, at the deadline, all. */
export type Listener = { readonly address: string; close(deadlineMs: number): Promise<void> }
export type NetworkRequest = {
  readonly url: string
  readonly method?: 'GET' | 'POST' | 'PUT' | 'HEAD'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** From the call to the end of the body. */
  readonly timeoutMs: number
  readonly tls?: TlsOptions
  readonly proxyUrl?: string
  /** Of the network alone: what it worked out when this was sent last, and which network did. Who asks the same again does so by one object. */
  memo?: { readonly owner: object } | undefined
}
export type TlsOptions = {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly serverName?: string
  readonly insecureSkipVerify?: boolean
}
export type ResponseHandler = {
  /** Header names are lower case; of repeated headers the values are joined by ', '. */
  head(status: number, headers: ReadonlyMap<string, string>): void
  /** The bytes are valid until this returns: copy what is kept. They are no Buffer, so `slice` copies. */
  chunk(bytes: Uint8Array): void
  end(): void
  failed(error: Error): void
  /**
   * For the network, of a handler that asks for one thing after the other: what it needs for a request, for the next. Only where nothing
   * that cancels a request is called after its end.
   */
  memo?: unknown
}

/** The cluster model: tables of what is known, by kind. Who looks something up in a label processor does it by `around.look`. */
export type Cluster = {
  table<V>(kind: string): Tracked<V>
}

/** Vendor knowledge: `configs/catalogs`, and files of the user. */
export type Catalogs = {
  /** A name (`dcgm`) or a path. Throws an Error that names the file and what is wrong with it. */
  load(nameOrPath: string): unknown
}

/** State that survives a restart where `service.storage` is set, and lives in memory otherwise. */
export type Storage = {
  readonly persistent: boolean
  /** The named part of the store; components use their own id as name. */
  state(name: string): StateStore
  /**
   * The named queue; components use their own id as name, and one at a time has it. Never fails: where the disk cannot be had, that
   * is logged and the queue is in memory.
   */
  queue(name: string, options: QueueOptions): Promise<QueueStore>
}
export type StateStore = {
  load(): Promise<ReadonlyMap<string, Uint8Array>>
  /** Resolves when the change is safe. `undefined` deletes. */
  write(changes: ReadonlyMap<string, Uint8Array | undefined>): Promise<void>
}

export type QueueOptions = {
  /** Where it is kept; where state is unless set. */
  readonly directory?: string
  /** How much its owner wants to keep in it, bodies alone. */
  readonly maxBytes: number
}

/** Requests that wait, in the order of their ids. The owner decides what is dropped. */
export type QueueStore = {
  /** Whether what was written survives the end of the process, however it ends. */
  readonly persistent: boolean
  /** What was there when it was opened, oldest first. Given once, so that nobody keeps it. */
  takeWaiting(): readonly QueuedRequest[]
  /** An id that is larger than all before it. */
  nextId(): number
  /**
   * Resolves when all of it is safe. Rejects with a sentence otherwise: then all of it was done or nothing, and it may be asked for
   * again.
   */
  write(changes: QueueChanges): Promise<void>
  /** Undefined if it is not there, or not as it was written. */
  read(id: number): Promise<Uint8Array | undefined>
  /**
   * Gives it back, to be opened by whoever comes next. `abandoned` is called if it is not persistent, has something in it and
   * nobody comes.
   */
  close(abandoned: () => void): Promise<void>
}
export type QueuedRequest = {
  readonly id: number
  readonly points: number
  /** Of the body. */
  readonly bytes: number
  readonly shard?: number
  readonly note?: string
  /** Wall clock. */
  readonly acceptedMs: number
  /** It is being sent, or was, and may have arrived. */
  readonly isTried: boolean
}
export type QueueChanges = {
  readonly added: readonly (QueuedRequest & { readonly body: Uint8Array })[]
  readonly removed: readonly number[]
  /** Of those that are there already: what `isTried` is now, by id. */
  readonly tried: ReadonlyMap<number, boolean>
}

/** What the process has of the machine's memory, and what it may have. */
export type Memory = {
  read(): MemoryUse
  readonly limits: MemoryUse
}
export type MemoryUse = {
  /** Physical memory. Its limit is that of the container, or what the machine has. */
  readonly residentBytes: number
  /** JavaScript objects, garbage that is not yet collected included. Above its limit Node ends the process. */
  readonly heapBytes: number
}

/** The components of one kind, by type. The code of one is loaded when it is asked for. */
export type Registry<D> = Readonly<Record<string, () => Promise<D>>>

/** Components that are loaded: all there are, or at least those that a config names. */
export type Registries = {
  readonly receivers: readonly ReceiverDefinition[]
  readonly processors: readonly ProcessorDefinition[]
  readonly exporters: readonly ExporterDefinition[]
  readonly extensions: readonly ExtensionDefinition[]
}

/** Will never work: do not try again. */
export class PermanentError extends Error {
  override name = 'PermanentError'
}

/** Not now: whoever has the data keeps it and tries again later. */
export class RefusedError extends Error {
  override name = 'RefusedError'
}
