/** Set-up of tests of annotations: without a server, and without changes stored in the browser. */
import type { AnnotationLayer } from '@lamina/contract';
import type { ChangeOutcome } from '../../../api/annotations.ts';
import type { Placement } from '../../overlay/placement.ts';
import { AnnotationStore } from '../annotation-store.ts';
import { ChangeQueue } from '../change-queue.ts';
import type { Tool } from '../drafts.ts';
import { DrawingSession } from '../drawing-session.ts';
import { HitIndex } from '../hit-index.ts';
import type { PendingWork } from '../pending-change.ts';
import { AnnotationPointer } from '../pointer-tool.ts';

/** The server's responses to the requests of a queue. */
interface QueueServer {
  readonly send: (layerId: string) => Promise<ChangeOutcome>;
  /** Creates the user's first layer; by default, the test expects no such request. */
  readonly createLayer?: () => Promise<AnnotationLayer>;
}

/**
 * Creates a queue that stores nothing. Without a server it keeps all changes, because no user is signed in.
 *
 * @param stored changes that closed tabs have left
 */
export function createQueue(
  server?: QueueServer,
  stored: PendingWork = { changes: [], batches: [], waiting: [] },
): ChangeQueue {
  const doNothing = async () => {};
  const rejectUnexpected = () => Promise.reject(new Error('not expected'));
  return new ChangeQueue({
    storage: {
      load: async () => stored,
      saveChange: doNothing,
      removeChange: doNothing,
      resumeChange: doNothing,
      moveChanges: doNothing,
      startBatch: doNothing,
      endBatch: doNothing,
    },
    send: server?.send ?? rejectUnexpected,
    createLayer: server?.createLayer ?? rejectUnexpected,
    isSignedIn: () => server !== undefined,
  });
}

/**
 * Opens the drawing mode with a tool, on a slide without annotations in a viewer of 1000 × 800 CSS pixels.
 *
 * @param placement where the slide is in the viewer
 */
export function openDrawingMode(tool: Tool, placement: Placement) {
  const store = new AnnotationStore('image', createQueue());
  const session = new DrawingSession(store);
  const hitIndex = new HitIndex();
  store.listen((ids) => hitIndex.invalidate(ids));
  session.chooseTool(tool);
  const pointer = new AnnotationPointer({
    view: { placement: () => placement, size: () => ({ width: 1000, height: 800 }), picture: () => null },
    store,
    session,
    hitIndex,
    isSpaceHeld: () => false,
    cursor: '',
  });
  const geometries = () => store.all().map(({ feature }) => feature.geometry);
  return { store, session, pointer, geometries };
}
