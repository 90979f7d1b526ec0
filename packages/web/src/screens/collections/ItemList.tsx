import { ActionIcon, Button, Group, Text, Textarea, Tooltip } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconGripVertical, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import classes from './Collections.module.css';
import { type DraftItem, emptyQuestion, moved } from './draft.ts';
import { QuestionFields } from './QuestionFields.tsx';
import { texts } from './texts.ts';

interface ItemListProps {
  readonly items: readonly DraftItem[];
  readonly onChange: (items: readonly DraftItem[]) => void;
}

/** The items of a collection in order: moved with the buttons or by dragging, each with its text and question. */
export function ItemList({ items, onChange }: ItemListProps) {
  /** Positions of the item that is dragged, and of the one below the pointer. */
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const [news, setNews] = useState('');
  function move(from: number, to: number) {
    const next = moved(items, from, to);
    if (next === items) return;
    onChange(next);
    setNews(texts.movedTo(items[from]?.title ?? texts.noAccess, to + 1));
  }
  return (
    <>
      <ol className={classes.items}>
        {items.map((item, place) => (
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the buttons of the item do the same by key
          <li
            key={item.key}
            className={classes.item}
            data-over={(drag !== null && drag.to === place) || undefined}
            onDragOver={(event) => {
              if (drag === null) return;
              event.preventDefault();
              if (drag.to !== place) setDrag({ ...drag, to: place });
            }}
            onDrop={(event) => {
              event.preventDefault();
              if (drag !== null) move(drag.from, place);
              setDrag(null);
            }}
          >
            <Item
              item={item}
              place={place}
              count={items.length}
              onMove={(to) => move(place, to)}
              onDrag={(isDragged) => setDrag(isDragged ? { from: place, to: place } : null)}
              onChange={(changed) => onChange(items.with(place, changed))}
              onRemove={() => onChange(items.toSpliced(place, 1))}
            />
          </li>
        ))}
      </ol>
      <p role="status" className={classes.unseen}>
        {news}
      </p>
    </>
  );
}

interface ItemProps {
  readonly item: DraftItem;
  readonly place: number;
  readonly count: number;
  readonly onMove: (to: number) => void;
  readonly onDrag: (isDragged: boolean) => void;
  readonly onChange: (item: DraftItem) => void;
  readonly onRemove: () => void;
}

function Item({ item, place, count, onMove, onDrag, onChange, onRemove }: ItemProps) {
  const title = item.title ?? texts.noAccess;
  return (
    <>
      <Group gap="xs" wrap="nowrap">
        <span
          className={classes.grip}
          draggable
          title={texts.dragHint}
          aria-hidden
          onDragStart={(event) => {
            event.dataTransfer.effectAllowed = 'move';
            event.dataTransfer.setData('text/plain', item.id);
            onDrag(true);
          }}
          onDragEnd={() => onDrag(false)}
        >
          <IconGripVertical size={20} />
        </span>
        <Text className={classes.itemTitle ?? ''}>
          <b>{place + 1}.</b> {title}{' '}
          <Text component="span" size="sm" c="dimmed">
            {texts.kinds[item.type]}
          </Text>
        </Text>
        <Tooltip label={texts.moveUp}>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={texts.moveUpOf(title)}
            disabled={place === 0}
            onClick={() => onMove(place - 1)}
          >
            <IconArrowUp size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={texts.moveDown}>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={texts.moveDownOf(title)}
            disabled={place === count - 1}
            onClick={() => onMove(place + 1)}
          >
            <IconArrowDown size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={texts.remove}>
          <ActionIcon
            variant="subtle"
            color="eosin"
            size={36}
            aria-label={texts.removeOf(title)}
            onClick={onRemove}
          >
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
      {!item.access && (
        <Text size="sm" c="dimmed">
          {texts.noAccessHint}
        </Text>
      )}
      <Textarea
        label={texts.itemText}
        autosize
        minRows={1}
        maxRows={10}
        maxLength={4000}
        value={item.text}
        onChange={({ currentTarget }) => onChange({ ...item, text: currentTarget.value })}
      />
      {item.question === null ? (
        <Group>
          <Button
            size="xs"
            variant="subtle"
            onClick={() => onChange({ ...item, question: emptyQuestion('choice') })}
          >
            {texts.addQuestion}
          </Button>
        </Group>
      ) : (
        <QuestionFields
          question={item.question}
          imageId={item.images[0] ?? null}
          field={item.field}
          onChange={(question) => onChange({ ...item, question })}
        />
      )}
    </>
  );
}
