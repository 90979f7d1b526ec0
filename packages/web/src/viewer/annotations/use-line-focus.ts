import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { ListLine } from './list-lines.ts';

/** The line of an annotation in the list. */
interface AnnotationLine {
  readonly annotationId: string;
  /** Index of the line in the list. */
  readonly index: number;
}

/**
 * Keeps the keyboard focus in the annotation list when the annotation of the focused line is deleted. Focuses the annotation that
 * is now in its place, or the list when no annotation is left. Without this hook, the browser would move the focus to the page.
 *
 * @param scroller the element that contains the lines and can be focused itself
 * @param focusLine focuses a line
 * @returns handlers for the focus and blur events of the line of each annotation
 */
export function useLineFocus(
  lines: readonly ListLine[],
  scroller: RefObject<HTMLElement | null>,
  focusLine: (index: number) => void,
): { readonly onFocus: (line: AnnotationLine) => void; readonly onBlur: () => void } {
  const focusedLine = useRef<AnnotationLine | null>(null); // null while no line has the focus
  useLayoutEffect(() => {
    if (focusedLine.current === null) return;
    const { annotationId, index } = focusedLine.current;
    const currentIndex = lines.findIndex(
      (line) => line.kind === 'annotation' && line.annotation.id === annotationId,
    );
    if (currentIndex >= 0) {
      // A line that is scrolled out of view is not rendered any more and has lost the focus without an event.
      const hasFocus = scroller.current?.contains(document.activeElement) ?? false;
      focusedLine.current = hasFocus ? { annotationId, index: currentIndex } : null;
      return;
    }
    focusedLine.current = null;
    const nextIndex = lines.findIndex((line, lineIndex) => lineIndex >= index && line.kind === 'annotation');
    const nearestIndex =
      nextIndex >= 0 ? nextIndex : lines.findLastIndex(({ kind }) => kind === 'annotation');
    if (nearestIndex >= 0) focusLine(nearestIndex);
    else scroller.current?.focus();
  });
  return {
    onFocus: (line) => {
      focusedLine.current = line;
    },
    onBlur: () => {
      focusedLine.current = null;
    },
  };
}
