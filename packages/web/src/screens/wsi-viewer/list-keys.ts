/** One line of the catalogue's list can be reached by Tab; the keys of a tree lead from it to the others. */
import {
  type FocusEvent,
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { type DatasetGroup, indexOfLine, type Line } from './catalogue.ts';

interface ListKeys {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly lines: readonly Line[];
  readonly currentIndex: number;
  readonly setCurrent: (line: Line, index: number) => void;
  readonly onToggle: (group: DatasetGroup, isOpen: boolean) => void;
  /** Scrolls no further than needed. */
  readonly reveal: (index: number) => void;
  /** Pixels. */
  readonly rowHeight: number;
}

/**
 * The line that Tab leads to: the one that had the focus last, or the one selected since. When it goes, the one
 * that takes its place.
 *
 * @returns `currentIndex` -1 when there is no line
 */
export function useCurrentLine(
  lines: readonly Line[],
  selectedId: string | null,
  /** -1 when it is not among the lines. */
  selectedIndex: number,
) {
  const [current, setPlace] = useState({ key: selectedId ?? '', index: 0 });
  const [followed, setFollowed] = useState(selectedId);
  if (selectedId !== followed) {
    setFollowed(selectedId);
    if (selectedId !== null && selectedIndex !== -1) setPlace({ key: selectedId, index: selectedIndex });
  }
  const currentIndex = useMemo(() => {
    const index = indexOfLine(lines, current.key);
    return index === -1 ? Math.min(current.index, lines.length - 1) : index;
  }, [lines, current]);
  return {
    currentIndex,
    setCurrent: ({ key }: Line, index: number) => setPlace({ key, index }),
  };
}

/** @returns `moveTo`, which gives the focus to a line, in sight or not, and what the list has to hear */
export function useListKeys(list: ListKeys) {
  const { scroller, lines, currentIndex, setCurrent, onToggle, reveal, rowHeight } = list;
  const isFocusWanted = useRef(false);
  const hadFocus = useRef(false);
  /** A slide was chosen with the mouse: arrows are for looking at it now, as if it had been clicked. */
  const isWithViewer = useRef(false);

  function focusOn(line: Line | undefined): boolean {
    const buttons = scroller.current?.querySelectorAll<HTMLElement>('[data-line]') ?? [];
    const button = [...buttons].find(({ dataset }) => dataset.line === line?.key);
    button?.focus({ preventScroll: true });
    return button !== undefined;
  }

  // A line that was out of sight is in the page only now, and one with the focus may have left the catalogue.
  useLayoutEffect(() => {
    const isLost = hadFocus.current && document.activeElement === document.body;
    if ((isFocusWanted.current || isLost) && focusOn(lines[currentIndex])) isFocusWanted.current = false;
  });

  function moveTo(index: number) {
    const line = lines[index];
    if (line === undefined) return;
    setCurrent(line, index);
    reveal(index);
    isFocusWanted.current = !focusOn(line);
  }

  /** @returns whether the key means something here */
  function act(key: string): boolean {
    const line = lines[currentIndex];
    if (line === undefined) return false;
    const linesInSight = Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight);
    const page = Math.max(1, linesInSight - 1);
    const last = lines.length - 1;
    const isGroup = line.kind === 'group';
    if (key === 'ArrowDown') moveTo(Math.min(last, currentIndex + 1));
    else if (key === 'ArrowUp') moveTo(Math.max(0, currentIndex - 1));
    else if (key === 'PageDown') moveTo(Math.min(last, currentIndex + page));
    else if (key === 'PageUp') moveTo(Math.max(0, currentIndex - page));
    else if (key === 'Home') moveTo(0);
    else if (key === 'End') moveTo(last);
    else if (key === 'ArrowRight' && isGroup && !line.isOpen) onToggle(line.group, true);
    else if (key === 'ArrowRight' && isGroup) moveTo(currentIndex + 1);
    else if (key === 'ArrowLeft' && isGroup && line.isOpen) onToggle(line.group, false);
    else if (key === 'ArrowLeft' && !isGroup) moveTo(line.title);
    else return key === 'ArrowLeft' || key === 'ArrowRight'; // nothing to do, and nothing for the slide either
    return true;
  }

  return {
    moveTo,
    handlers: {
      onKeyDown(event: KeyboardEvent) {
        if (event.ctrlKey || event.metaKey || event.altKey || isWithViewer.current) return;
        if (act(event.key)) event.preventDefault();
      },
      onPointerDown({ target }: PointerEvent) {
        isWithViewer.current = target instanceof Element && target.closest('li') !== null;
      },
      onFocus({ target }: FocusEvent) {
        hadFocus.current = true;
        const index = target instanceof HTMLElement ? indexOfLine(lines, target.dataset.line ?? null) : -1;
        const line = lines[index];
        if (line !== undefined) setCurrent(line, index);
      },
      onBlur({ target, relatedTarget }: FocusEvent) {
        if (!target.isConnected) return; // its line has left the catalogue
        if (scroller.current?.contains(relatedTarget)) return;
        hadFocus.current = false;
        isWithViewer.current = false;
      },
    },
  };
}
