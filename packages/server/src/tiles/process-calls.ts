/**
 * Remote procedure calls between the primary process, which renders, and its HTTP worker processes, which answer HTTP
 * requests. They use the IPC channel of a child process. A call has a name and arguments, returns a result or a
 * SlideError, and can be cancelled.
 */
import { SlideError, type SlideErrorCode } from '@lamina/slide';

/** Functions that a process runs for others, by name. Their arguments and results must be bytes, numbers, strings or plain objects. */
export type CallTable = Readonly<Record<string, (signal: AbortSignal, ...args: never[]) => Promise<unknown>>>;

type ArgsOf<F> = F extends (signal: AbortSignal, ...args: infer A) => unknown ? A : never;
type ResultOf<F> = F extends (signal: AbortSignal, ...args: never[]) => Promise<infer R> ? R : never;

/** One end of the IPC channel: the object `process` in the child, the ChildProcess object in the parent. */
export interface Channel {
  send?(message: unknown, onSent: (error: Error | null) => void): boolean; // missing in a process without an IPC channel
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

interface CallMessage {
  readonly kind: 'call';
  /** Number of the call, unique within the calling process. Cancel and answer messages refer to it. */
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}
interface CancelMessage {
  readonly kind: 'cancel';
  readonly id: number;
}
type AnswerMessage = {
  readonly kind: 'answer';
  readonly id: number;
} & (
  | { readonly value: unknown }
  | { readonly failure: { readonly code: SlideErrorCode; readonly message: string; readonly detail: string } }
);

/** Returns false for messages of other modules, which use the same channel. */
function isProcessCallMessage(message: unknown): message is CallMessage | CancelMessage | AnswerMessage {
  const { kind } = (message ?? {}) as { kind?: unknown };
  return kind === 'call' || kind === 'cancel' || kind === 'answer';
}

export interface Caller<T extends CallTable> {
  /**
   * Calls a function of the other process.
   *
   * @throws SlideError that the function has thrown; SlideError DECODE_FAILED when the message cannot be sent or the
   *   function has thrown any other error; the abort reason of the signal
   */
  call<K extends keyof T & string>(
    name: K,
    args: ArgsOf<T[K]>,
    signal?: AbortSignal,
  ): Promise<ResultOf<T[K]>>;
}

export function createCaller<T extends CallTable>(channel: Channel): Caller<T> {
  /** Calls without an answer yet, by id. */
  const pendingCalls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let callCount = 0;

  function send(message: CallMessage | CancelMessage, id: number): void {
    const onSent = (error: Error | null) => {
      if (error === null) return;
      pendingCalls.get(id)?.reject(
        new SlideError('DECODE_FAILED', 'The message could not be sent to the other process', {
          cause: error,
        }),
      );
      pendingCalls.delete(id);
    };
    channel.send?.(message, onSent);
  }

  channel.on('message', (message) => {
    if (!isProcessCallMessage(message) || message.kind !== 'answer') return;
    const call = pendingCalls.get(message.id); // undefined when the call was cancelled
    pendingCalls.delete(message.id);
    if ('value' in message) call?.resolve(message.value);
    else call?.reject(errorOf(message.failure));
  });

  return {
    async call<K extends keyof T & string>(name: K, args: ArgsOf<T[K]>, signal?: AbortSignal) {
      signal?.throwIfAborted();
      const id = callCount++;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      pendingCalls.set(id, { resolve, reject });
      const cancel = () => {
        pendingCalls.delete(id);
        send({ kind: 'cancel', id }, id);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', cancel, { once: true });
      send({ kind: 'call', id, name, args }, id);
      try {
        return (await promise) as ResultOf<T[K]>;
      } finally {
        signal?.removeEventListener('abort', cancel);
      }
    },
  };
}

/**
 * Answers the calls that arrive on the channel with the functions of the table.
 *
 * @param onUnexpectedError receives errors other than SlideError; the calling process then gets DECODE_FAILED without details
 */
export function answerCalls(
  channel: Channel,
  table: CallTable,
  onUnexpectedError: (error: unknown, call: Pick<CallMessage, 'name' | 'args'>) => void,
): void {
  /** Controllers that cancel the running calls, by call id. */
  const runningCalls = new Map<number, AbortController>();

  async function answer({ id, name, args }: CallMessage): Promise<AnswerMessage> {
    const controller = new AbortController();
    runningCalls.set(id, controller);
    try {
      const run = table[name] as
        | ((signal: AbortSignal, ...args: readonly unknown[]) => Promise<unknown>)
        | undefined;
      if (run === undefined) throw new SlideError('DECODE_FAILED', `The process has no call ${name}`);
      return { kind: 'answer', id, value: await run(controller.signal, ...args) };
    } catch (error) {
      if (!(error instanceof SlideError) && !controller.signal.aborted)
        onUnexpectedError(error, { name, args });
      return { kind: 'answer', id, failure: failureOf(error) };
    } finally {
      runningCalls.delete(id);
    }
  }

  channel.on('message', (message) => {
    if (!isProcessCallMessage(message)) return;
    if (message.kind === 'cancel') runningCalls.get(message.id)?.abort();
    // An error of `send` is ignored: it means that the calling process has ended.
    else if (message.kind === 'call')
      void answer(message).then((answerMessage) => channel.send?.(answerMessage, () => {}));
  });
}

/** Converts an error to a plain object that can be sent. `detail` is the message of the error's cause; empty without a cause. */
function failureOf(error: unknown): { code: SlideErrorCode; message: string; detail: string } {
  if (!(error instanceof SlideError))
    return { code: 'DECODE_FAILED', message: 'The slide could not be read', detail: '' };
  const { code, message, cause } = error;
  const textOfCause = typeof cause === 'string' ? cause : '';
  return { code, message, detail: cause instanceof Error ? cause.message : textOfCause };
}

function errorOf({ code, message, detail }: ReturnType<typeof failureOf>): SlideError {
  return new SlideError(code, message, detail === '' ? {} : { cause: detail });
}
