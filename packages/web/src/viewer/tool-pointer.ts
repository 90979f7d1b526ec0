import type { Point } from './overlay/placement.ts';

/** Modifier keys that are held during a pointer event. */
export interface PointerKeys {
  readonly alt: boolean;
  readonly shift: boolean;
}

/** A tool that receives pointer events. Points are in CSS pixels of the viewer from its top left. */
export interface PointerTool {
  /** CSS cursor over the slide; default: a crosshair. */
  readonly cursor?: string;
  /** Whether dragging moves the slide, as it does without a tool; default: no. The tool receives the events in both cases. */
  readonly letsSlideMove?: boolean;
  onPress(point: Point, keys: PointerKeys): void;
  /** Called for each movement of the pointer, whether a button is pressed or not. */
  onMove(point: Point, keys: PointerKeys): void;
  onRelease(point: Point, keys: PointerKeys): void;
  /**
   * Called in place of `onRelease` when the press must have no effect: the press has become a gesture with two fingers, the user
   * has pressed Escape, or the browser has taken over the touch.
   */
  onCancel(): void;
  /**
   * @param delta distance of the turn as the browser reports it, positive downwards
   * @returns whether the tool handled the turn of the wheel, which then does not zoom
   */
  onWheel?(delta: number, keys: PointerKeys): boolean;
}

/** A pointer event in the viewer. `point` is in CSS pixels of the viewer. */
export interface ToolEvent {
  /** `mouse`, `touch` or `pen`. */
  readonly pointerType: string;
  readonly point: Point;
  readonly keys: PointerKeys;
}

/** Passes the events of one kind of pointer at a time to the tool: of a pen, or else of the kind that was pressed first. */
export interface ToolPointer {
  press(event: ToolEvent): void;
  move(event: ToolEvent): void;
  release(event: ToolEvent): void;
  /** Undoes what the current press has drawn. @returns false if the pointer is not pressed */
  cancel(): boolean;
  /** Undoes what the current press has drawn, if this kind of pointer is pressed. */
  cancelType(pointerType: string): void;
}

/**
 * Creates a `ToolPointer`. It is needed because OpenSeadragon reports each kind of pointer as if there were no others: while a pen draws,
 * the palm beside the pen would draw, too. When a palm touches the screen before the pen, the press of the palm is cancelled.
 *
 * @param getTool returns the tool; null when the pointer moves the slide
 */
export function createToolPointer(getTool: () => PointerTool | null): ToolPointer {
  let pressedType: string | null = null;

  function cancel(): boolean {
    if (pressedType === null) return false;
    pressedType = null;
    getTool()?.onCancel();
    return true;
  }

  return {
    press({ pointerType, point, keys }) {
      if (pressedType !== null && pressedType !== pointerType) {
        if (pointerType !== 'pen') return;
        cancel();
      }
      pressedType = pointerType;
      getTool()?.onPress(point, keys);
    },
    move({ pointerType, point, keys }) {
      if (pressedType === null || pressedType === pointerType) getTool()?.onMove(point, keys);
    },
    release({ pointerType, point, keys }) {
      if (pressedType !== pointerType) return;
      pressedType = null;
      getTool()?.onRelease(point, keys);
    },
    cancel,
    cancelType(pointerType) {
      if (pressedType === pointerType) cancel();
    },
  };
}
