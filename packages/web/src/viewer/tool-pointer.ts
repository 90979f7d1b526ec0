import type { Point } from './overlay/placement.ts';
import type { PointerKeys, PointerTool } from './slide-view.ts';

/** A pointer event in the viewer. `point` is in CSS pixels of the viewer. */
export interface ToolEvent {
  /** `mouse`, `touch` or `pen`. */
  readonly pointerType: string;
  readonly point: Point;
  readonly keys: PointerKeys;
}

/** Passes the events of one kind of pointer at a time to the tool: of the one that was pressed first, or of a pen. */
export interface ToolPointer {
  press(event: ToolEvent): void;
  move(event: ToolEvent): void;
  release(event: ToolEvent): void;
  /** Undoes what the current press has drawn. @returns false if the pointer is not pressed */
  cancel(): boolean;
  /** As `cancel`, if the current press is of this kind of pointer. */
  cancelType(pointerType: string): void;
}

/**
 * OpenSeadragon reports the pointers of each kind as if there were no others. While a pen draws, the palm beside it must not draw; a palm
 * that lands first gives way to the pen.
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
