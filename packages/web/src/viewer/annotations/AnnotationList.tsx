import type { Geometry } from '@lamina/annotations';
import { ActionIcon, NativeSelect, Text, TextInput, UnstyledButton } from '@mantine/core';
import { IconEye, IconEyeOff, IconLock } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, useDeferredValue, useMemo, useRef, useState } from 'react';
import { formatNumber } from '../../formatting/numbers.ts';
import type { Calibration } from '../scale.ts';
import classes from './Annotations.module.css';
import { cssColor } from './annotation.ts';
import { type ListLine, labelOf, linesOf, type SortOrder, sortOrders } from './list-lines.ts';
import { sizeText } from './readout.ts';
import { texts } from './texts.ts';
import type { AnnotationActions } from './use-annotation-actions.ts';
import { type SlideAnnotations, useStoreVersion } from './use-annotations.ts';
import { useLineFocus } from './use-line-focus.ts';

/** Heights in CSS pixels of the two kinds of lines: the heading of a class, and an annotation. */
const lineHeight = { class: 34, annotation: 46 } as const;

interface AnnotationListProps {
  readonly slideAnnotations: SlideAnnotations;
  readonly actions: AnnotationActions;
  readonly calibration: Calibration | null; // null for a slide without a scale
}

/** Lists all annotations of the slide by class. The arrow keys select an annotation, and Enter zooms to it. */
export function AnnotationList(props: AnnotationListProps) {
  // A slide can have 50,000 annotations. With the deferred version, React updates the slide first and this list later.
  const version = useDeferredValue(useStoreVersion(props.slideAnnotations.store));
  return <List {...props} version={version} />;
}

interface ListProps extends AnnotationListProps {
  /** A number that each change of the annotations increments. */
  readonly version: number;
}

const List = memo(function List({ slideAnnotations: { store }, actions, calibration, version }: ListProps) {
  const [search, setSearch] = useState('');
  const [order, setOrder] = useState<SortOrder>('time');
  const scroller = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `store.all()` returns other annotations when the version changes
  const all = useMemo(() => store.all(), [store, version]); // oxlint-disable-line react-hooks/exhaustive-deps
  const lines = useMemo(() => linesOf(all, search, order, cssColor), [all, search, order]);
  // Oxlint warns that the React compiler cannot memoise the functions of the virtualizer; this project does not use the compiler.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => lineHeight[lines[index]?.kind ?? 'annotation'],
    getItemKey: (index) => keyOf(lines[index]),
    overscan: 5, // lines rendered beyond each end of the visible ones
  });

  const focusLine = (index: number) => {
    virtualizer.scrollToIndex(index);
    // In the next frame, the virtualizer has rendered the line.
    requestAnimationFrame(() => {
      scroller.current?.querySelector<HTMLElement>(`[data-line="${index}"]`)?.focus({ preventScroll: true });
    });
  };
  // Keeps the keyboard focus in the list when the annotation of the focused line is deleted.
  const lineFocus = useLineFocus(lines, scroller, focusLine);
  /** Selects and focuses the next or the previous annotation of the list. */
  const selectNeighbour = (currentIndex: number, step: 1 | -1) => {
    for (let index = currentIndex + step; index >= 0 && index < lines.length; index += step) {
      const line = lines[index];
      if (line?.kind !== 'annotation') continue;
      store.select([line.annotation.id]);
      focusLine(index);
      return;
    }
  };
  const onKeyDown = (event: KeyboardEvent, index: number, id: string) => {
    const action = {
      ArrowDown: () => selectNeighbour(index, 1),
      ArrowUp: () => selectNeighbour(index, -1),
      Enter: () => {
        store.select([id]);
        actions.zoomTo(id);
      },
    }[event.key];
    if (action === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // otherwise, the viewer would handle the same key, too
    action();
  };

  return (
    <>
      <div className={classes.searchAndOrder}>
        <TextInput
          size="xs"
          aria-label={texts.search}
          placeholder={texts.search}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <NativeSelect
          size="xs"
          aria-label={texts.sort}
          value={order}
          onChange={(event) =>
            setOrder(sortOrders.find((sortOrder) => sortOrder === event.currentTarget.value) ?? 'time')
          }
          data={sortOrders.map((value) => ({ value, label: texts.sortBy[value] }))}
        />
      </div>
      <div ref={scroller} className={classes.rows} tabIndex={-1}>
        {lines.length === 0 && (
          <Text size="sm">{search === '' ? `${texts.empty} ${texts.emptyHint}` : texts.nothingFound}</Text>
        )}
        <ul className={classes.lines} style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start, size, key }) => {
            const line = lines[index];
            if (line === undefined) return null;
            return (
              <li
                key={key}
                className={classes.line}
                style={{ height: size, transform: `translateY(${start}px)` }}
              >
                {line.kind === 'class' ? (
                  <ClassLine
                    line={line}
                    isHidden={store.isClassHidden(line.name)}
                    onToggle={() => store.toggleClass(line.name)}
                  />
                ) : (
                  <UnstyledButton
                    className={classes.row}
                    data-line={index}
                    aria-pressed={store.selection.has(line.annotation.id)}
                    onClick={(event) => {
                      const { id } = line.annotation;
                      const addsToSelection = event.shiftKey || event.ctrlKey || event.metaKey;
                      store.select(addsToSelection ? [...store.selection, id] : [id]);
                    }}
                    onFocus={() => lineFocus.onFocus({ annotationId: line.annotation.id, index })}
                    onBlur={lineFocus.onBlur}
                    onDoubleClick={() => actions.zoomTo(line.annotation.id)}
                    onKeyDown={(event) => onKeyDown(event, index, line.annotation.id)}
                  >
                    <span>{labelOf(line.annotation)}</span>
                    <Size geometry={line.annotation.feature.geometry} calibration={calibration} />
                    <span className={classes.rowAuthor}>{line.annotation.author}</span>
                    {line.annotation.feature.properties.isLocked && (
                      <IconLock size={14} role="img" aria-label={texts.locked} />
                    )}
                  </UnstyledButton>
                )}
              </li>
            );
          })}
        </ul>
      </div>
    </>
  );
});

interface SizeProps {
  readonly geometry: Geometry;
  readonly calibration: Calibration | null; // null for a slide without a scale
}

/** Memoised, because measuring an outline of up to 50,000 vertices takes long. */
const Size = memo(function Size({ geometry, calibration }: SizeProps) {
  return <span className={classes.rowSize}>{sizeText(geometry, calibration)}</span>;
});

interface ClassLineProps {
  readonly line: ListLine & { readonly kind: 'class' };
  readonly isHidden: boolean;
  readonly onToggle: () => void;
}

function ClassLine({ line, isHidden, onToggle }: ClassLineProps) {
  const name = line.name ?? texts.noClass;
  const Icon = isHidden ? IconEyeOff : IconEye;
  return (
    <div className={classes.group}>
      <span className={classes.swatch} style={{ background: line.color }} />
      <span className={classes.groupName}>{name}</span>
      <span>{formatNumber(line.count)}</span>
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-label={isHidden ? texts.show(name) : texts.hide(name)}
        onClick={onToggle}
      >
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </div>
  );
}

function keyOf(line: ListLine | undefined): string {
  if (line === undefined) return '';
  return line.kind === 'class' ? `class ${line.name}` : line.annotation.id;
}
