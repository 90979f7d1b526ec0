import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { ListLine } from './list-lines.ts';

interface Row {
  /** Id of the annotation. */
  readonly id: string;
  /** Index of its line. */
  readonly index: number;
}

/**
 * Keeps the keyboard focus in the annotation list when the annotation of the focused row is deleted: focuses the row that is now
 * in its place, or the list when no row is left. Without this hook, the browser would move the focus to the page.
 *
 * @param scroller the element that contains the rows and can be focused itself
 * @param focusLine focuses the row of a line
 * @returns `remember`, which the row that receives the focus must call, and `forget`, which the row that loses it must call
 */
export function useRowFocus(
  lines: readonly ListLine[],
  scroller: RefObject<HTMLElement | null>,
  focusLine: (index: number) => void,
): { readonly remember: (row: Row) => void; readonly forget: () => void } {
  const focusedRow = useRef<Row | null>(null); // null while no row has the focus
  useLayoutEffect(() => {
    if (focusedRow.current === null) return;
    const { id, index } = focusedRow.current;
    const currentIndex = lines.findIndex((line) => line.kind === 'annotation' && line.annotation.id === id);
    if (currentIndex >= 0) {
      // A row that is scrolled out of view is not rendered any more and has lost the focus without an event.
      const hasFocus = scroller.current?.contains(document.activeElement) ?? false;
      focusedRow.current = hasFocus ? { id, index: currentIndex } : null;
      return;
    }
    focusedRow.current = null;
    const nextIndex = lines.findIndex((line, at) => at >= index && line.kind === 'annotation');
    const nearestIndex =
      nextIndex >= 0 ? nextIndex : lines.findLastIndex(({ kind }) => kind === 'annotation');
    if (nearestIndex >= 0) focusLine(nearestIndex);
    else scroller.current?.focus();
  });
  return {
    remember: (row) => {
      focusedRow.current = row;
    },
    forget: () => {
      focusedRow.current = null;
    },
  };
}
