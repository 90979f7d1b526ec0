/**
 * Keyboard focus in the list of the viewer's catalogue (roving tabindex). Tab focuses a single line, the current line. From there, the
 * arrow keys, Home, End and the Page keys move the focus as in a tree view of the WAI-ARIA Authoring Practices.
 */
import {
  type FocusEvent,
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { branchOf, type CaseGroup, type CatalogueLines, type DatasetGroup } from './catalogue.ts';

interface ListKeysOptions {
  /** The element that scrolls and contains the lines. */
  readonly scroller: RefObject<HTMLElement | null>;
  readonly lines: CatalogueLines;
  /** Index of the current line; -1 when the list is empty. */
  readonly currentIndex: number;
  readonly setCurrent: (index: number) => void;
  readonly onToggle: (branch: DatasetGroup | CaseGroup, isOpen: boolean) => void;
  /** Scrolls as little as needed to show a line. */
  readonly reveal: (index: number) => void;
  /** Height of an image's line in pixels; determines by how many lines the Page keys move the focus. */
  readonly rowHeight: number;
}

/**
 * Finds the current line, which Tab focuses: the line that had the focus last, or the image that was selected after that. When this
 * line leaves the list, the line that takes over its index becomes the current one.
 *
 * @param selectedIndex -1 when the selected image is not among the lines
 * @returns `currentIndex` (-1 when the list is empty) and `setCurrent`
 */
export function useCurrentLine(lines: CatalogueLines, selectedId: string | null, selectedIndex: number) {
  const [current, setCurrentLine] = useState({ key: selectedId ?? '', index: 0 });
  /** The selected image that has already become the current line. */
  const [followedId, setFollowedId] = useState<string | null>(null);
  // Set during rendering, so that Tab never focuses the line of the previously selected image.
  if (selectedId !== followedId && (selectedId === null || selectedIndex !== -1)) {
    setFollowedId(selectedId);
    if (selectedId !== null) setCurrentLine({ key: selectedId, index: selectedIndex });
  }
  const index = lines.indexOf(current.key);
  const currentIndex = index === -1 ? Math.min(current.index, lines.layout.count - 1) : index;
  return {
    currentIndex,
    setCurrent: (next: number) => setCurrentLine({ key: lines.keyAt(next) ?? '', index: next }),
  };
}

/**
 * Moves the keyboard focus between the lines.
 *
 * @returns the event handlers of the list, and `moveTo`, which focuses a line and scrolls to it unless `isInSight` is true
 */
export function useListKeys(options: ListKeysOptions) {
  const { scroller, lines, currentIndex, setCurrent, onToggle, reveal, rowHeight } = options;
  const { layout } = lines;
  /** Whether the current line must be focused as soon as it is rendered. */
  const isFocusPending = useRef(false);
  /** Whether a line has the focus, or had it when the line left the list. */
  const hadFocus = useRef(false);
  /**
   * Whether the user last pressed the row of an image in the list with the mouse or a finger. This opens the image, and keys
   * such as the arrows then move the opened slide instead of the focus.
   */
  const keysMoveSlide = useRef(false);

  /** Focuses a line. @returns false when the line is not rendered */
  function focusOn(index: number): boolean {
    const key = lines.keyAt(index);
    const buttons = scroller.current?.querySelectorAll<HTMLElement>('[data-line]') ?? [];
    const button = [...buttons].find(({ dataset }) => dataset.line === key);
    button?.focus({ preventScroll: true });
    return button !== undefined;
  }

  // Runs after each rendering: a line that had to be scrolled into view is now in the page, and the focused line may have left it.
  useLayoutEffect(() => {
    const isFocusLost = hadFocus.current && document.activeElement === document.body;
    if ((isFocusPending.current || isFocusLost) && focusOn(currentIndex)) isFocusPending.current = false;
  });

  function moveTo(index: number, isInSight = false) {
    if (layout.lineAt(index) === undefined) return;
    setCurrent(index);
    if (!isInSight) reveal(index);
    isFocusPending.current = !focusOn(index);
  }

  /** Runs the action of a key. @returns whether the list uses the key */
  function handleKey(key: string): boolean {
    const line = layout.lineAt(currentIndex);
    if (line === undefined) return false;
    const visibleLines = Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight);
    const linesPerPage = Math.max(1, visibleLines - 1);
    const lastIndex = layout.count - 1;
    const titleLine = line.kind === 'image' ? null : line;
    const parentIndex =
      line.kind === 'image' && line.caseLine !== null ? line.caseLine.index : line.groupLineIndex;
    if (key === 'ArrowDown') moveTo(Math.min(lastIndex, currentIndex + 1));
    else if (key === 'ArrowUp') moveTo(Math.max(0, currentIndex - 1));
    else if (key === 'PageDown') moveTo(Math.min(lastIndex, currentIndex + linesPerPage));
    else if (key === 'PageUp') moveTo(Math.max(0, currentIndex - linesPerPage));
    else if (key === 'Home') moveTo(0);
    else if (key === 'End') moveTo(lastIndex);
    else if (key === 'ArrowRight' && titleLine?.isOpen === false) onToggle(branchOf(titleLine), true);
    else if (key === 'ArrowRight' && titleLine !== null) moveTo(currentIndex + 1);
    else if (key === 'ArrowLeft' && titleLine?.isOpen === true) onToggle(branchOf(titleLine), false);
    else if (key === 'ArrowLeft' && line.kind !== 'group') moveTo(parentIndex);
    else return key === 'ArrowLeft' || key === 'ArrowRight'; // without an effect here, but these keys must not move the slide
    return true;
  }

  return {
    moveTo,
    handlers: {
      onKeyDown(event: KeyboardEvent) {
        if (event.ctrlKey || event.metaKey || event.altKey || keysMoveSlide.current) return;
        if (handleKey(event.key)) event.preventDefault();
      },
      onPointerDown({ target }: PointerEvent) {
        keysMoveSlide.current = target instanceof Element && target.closest('li') !== null; // only images are in `li`
      },
      onFocus({ target }: FocusEvent) {
        hadFocus.current = true;
        const index = target instanceof HTMLElement ? lines.indexOf(target.dataset.line ?? null) : -1;
        if (index !== -1) setCurrent(index);
      },
      onBlur({ target, relatedTarget }: FocusEvent) {
        if (!target.isConnected) return; // the focused line has left the list; the layout effect moves the focus
        if (scroller.current?.contains(relatedTarget)) return;
        hadFocus.current = false;
        keysMoveSlide.current = false;
      },
    },
  };
}
