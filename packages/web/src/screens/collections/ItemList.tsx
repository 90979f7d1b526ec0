import { ActionIcon, Button, Group, Text, Textarea, Tooltip } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconGripVertical, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import classes from './Collections.module.css';
import { type DraftItem, emptyQuestion, moveEntry } from './draft.ts';
import { QuestionFields } from './QuestionFields.tsx';
import { texts } from './texts.ts';

interface ItemListProps {
  readonly items: readonly DraftItem[];
  readonly onChange: (items: readonly DraftItem[]) => void;
  /** Called when the item at the end of the list is removed, so that the keyboard focus gets a new place. */
  readonly onRemoveLast: () => void;
}

/** The items of a collection in its editor, with their texts and questions. Buttons or dragging change their order. */
export function ItemList({ items, onChange, onRemoveLast }: ItemListProps) {
  /** Indexes of the dragged item and of the item below the pointer; null while nothing is dragged. */
  const [drag, setDrag] = useState<{ readonly draggedIndex: number; readonly targetIndex: number } | null>(
    null,
  );
  /** Text for screen readers about the last move. */
  const [announcement, setAnnouncement] = useState('');

  function move(fromIndex: number, toIndex: number) {
    const reordered = moveEntry(items, fromIndex, toIndex);
    if (reordered === items) return; // `toIndex` is out of range
    onChange(reordered);
    setAnnouncement(texts.movedTo(items[fromIndex]?.title ?? texts.noAccess, toIndex + 1));
  }

  /** Removes an item, and moves the focus from its button to the next item. @param row the list element of the item */
  function remove(index: number, row: HTMLElement | null) {
    const nextRow = row?.nextElementSibling;
    if (nextRow instanceof HTMLElement) nextRow.focus();
    else onRemoveLast();
    onChange(items.toSpliced(index, 1));
  }

  return (
    <>
      <ol className={classes.items}>
        {items.map((item, index) => (
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the buttons of the item do the same with the keyboard
          <li
            key={item.key}
            className={classes.item}
            tabIndex={-1} // gets the focus when the item before it is removed
            data-over={drag?.targetIndex === index || undefined} // the style sheet marks where the dragged item would be dropped
            onDragOver={(event) => {
              if (drag === null) return;
              event.preventDefault(); // allows the drop
              if (drag.targetIndex !== index) setDrag({ ...drag, targetIndex: index });
            }}
            onDrop={(event) => {
              event.preventDefault();
              if (drag !== null) move(drag.draggedIndex, index);
              setDrag(null);
            }}
          >
            <Item
              item={item}
              index={index}
              itemCount={items.length}
              onMove={(toIndex) => move(index, toIndex)}
              onDrag={(isDragged) => setDrag(isDragged ? { draggedIndex: index, targetIndex: index } : null)}
              onChange={(changed) => onChange(items.with(index, changed))}
              onRemove={(row) => remove(index, row)}
            />
          </li>
        ))}
      </ol>
      <p role="status" className={classes.visuallyHidden}>
        {announcement}
      </p>
    </>
  );
}

interface ItemProps {
  readonly item: DraftItem;
  readonly index: number;
  readonly itemCount: number;
  readonly onMove: (toIndex: number) => void;
  /** Called with true when the user begins to drag the item, and with false at the end. */
  readonly onDrag: (isDragged: boolean) => void;
  readonly onChange: (item: DraftItem) => void;
  /** @param row the list element of the item */
  readonly onRemove: (row: HTMLElement | null) => void;
}

function Item({ item, index, itemCount, onMove, onDrag, onChange, onRemove }: ItemProps) {
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
            event.dataTransfer.setData('text/plain', item.id); // never read; some browsers need it to start the drag
            onDrag(true);
          }}
          onDragEnd={() => onDrag(false)}
        >
          <IconGripVertical size={20} />
        </span>
        <Text className={classes.itemTitle ?? ''}>
          <b>{index + 1}.</b> {title}{' '}
          <Text component="span" size="sm" c="dimmed">
            {texts.kinds[item.type]}
          </Text>
        </Text>
        <Tooltip label={texts.moveUp}>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={texts.moveUpOf(title)}
            disabled={index === 0}
            onClick={() => onMove(index - 1)}
          >
            <IconArrowUp size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={texts.moveDown}>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={texts.moveDownOf(title)}
            disabled={index === itemCount - 1}
            onClick={() => onMove(index + 1)}
          >
            <IconArrowDown size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={texts.remove}>
          <ActionIcon
            variant="subtle"
            color="eosin" // the theme's rose, named after the stain
            size={36}
            aria-label={texts.removeOf(title)}
            onClick={({ currentTarget }) => onRemove(currentTarget.closest('li'))}
          >
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
      {/* `access` is false when the owner of the collection may no longer view the item. */}
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
        maxLength={4000} // the limit of the API
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
