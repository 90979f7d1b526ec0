import { Text, Title } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useId, useRef } from 'react';
import classes from './SlideManagement.module.css';
import { texts } from './texts.ts';

/** @typeParam Line a line of a catalogue file, whose property `line` is the line number */
interface LineListProps<Line extends { readonly line: number }> {
  readonly title: string;
  /** Says that the list shows only some of the lines; null when it shows all. */
  readonly hint: string | null;
  readonly lines: readonly Line[];
  /** Renders the content of one line. */
  readonly children: (line: Line) => ReactNode;
}

const estimatedLineHeightPx = 64;
/** Lines that are rendered above and below the visible ones. */
const overscanLines = 5;

/** Lists lines of a catalogue file with their numbers. The list is virtual: it renders only the lines in and near its visible part. */
export function LineList<Line extends { readonly line: number }>({
  title,
  hint,
  lines,
  children,
}: LineListProps<Line>) {
  const titleId = useId();
  const scroller = useRef<HTMLElement>(null);
  // oxlint warns that the React compiler cannot memoise this component; the project does not use the compiler.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedLineHeightPx,
    overscan: overscanLines,
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: focus lets the keyboard scroll the list
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
