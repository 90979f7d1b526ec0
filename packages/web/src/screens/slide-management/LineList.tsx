import { Text, Title } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useId, useRef } from 'react';
import classes from './SlideManagement.module.css';
import { texts } from './texts.ts';

interface LineListProps<Line extends { readonly line: number }> {
  readonly title: string;
  /** What is not in the list; null when everything is. */
  readonly hint: string | null;
  readonly lines: readonly Line[];
  readonly children: (line: Line) => ReactNode;
}

const usualHeight = 64;
const linesBeyondEdges = 5;

/** Lines of a file, thousands of them: only those in sight are in the page. */
export function LineList<Line extends { readonly line: number }>({
  title,
  hint,
  lines,
  children,
}: LineListProps<Line>) {
  const titleId = useId();
  const scroller = useRef<HTMLElement>(null);
  // The React compiler, which is not used, could not remember what it returns.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => usualHeight,
    overscan: linesBeyondEdges,
  });

  return (
    <div>
      <Title order={4} size="h6" id={titleId} mb={4}>
        {title}
      </Title>
      {hint !== null && (
        <Text size="sm" c="dimmed" mb={4}>
          {hint}
        </Text>
      )}
      <section
        ref={scroller}
        className={classes.lines}
        aria-labelledby={titleId}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with keys
        tabIndex={0} // oxlint-disable-line jsx-a11y/no-noninteractive-tabindex
      >
        <ul style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, key, start }) => {
            const line = lines[index];
            return (
              line && (
                <li
                  key={key}
                  ref={virtualizer.measureElement}
                  data-index={index}
                  aria-posinset={index + 1}
                  aria-setsize={lines.length}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <span className={classes.lineNumber}>{texts.line(line.line)}</span>
                  <div>{children(line)}</div>
                </li>
              )
            );
          })}
        </ul>
      </section>
    </div>
  );
}
