import { type ManagedImage, maxImagesAtOnce } from '@lamina/contract';
import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { applyQuickAction } from './apply-quick-action.ts';
import type { DialogRequest } from './dialog-request.ts';
import classes from './SlideManagement.module.css';
import { changedBy, type QuickAction, stateOf } from './slide-state.ts';
import { texts } from './texts.ts';

interface SelectionBarProps {
  /** What is selected, not empty. */
  readonly slides: readonly ManagedImage[];
  /** How many are in the list, and how many the filter lets through, loaded or not. */
  readonly shown: number;
  readonly all: number;
  readonly onSelectMore: () => void;
  readonly onClear: () => void;
  readonly onAsk: (request: DialogRequest) => void;
}

const quickActions: readonly QuickAction[] = ['hide', 'show', 'readAgain', 'bringBack'];

/** What can be done to all that are selected; stays in sight while the list is scrolled. */
export function SelectionBar({ slides, shown, all, onSelectMore, onClear, onAsk }: SelectionBarProps) {
  const [running, setRunning] = useState<QuickAction | null>(null);
  const most = Math.min(all, maxImagesAtOnce);
  const present = slides.filter((slide) => stateOf(slide) !== 'removed');

  async function run(action: QuickAction) {
    setRunning(action);
    const isDone = await applyQuickAction(action, changedBy(action, slides));
    setRunning(null);
    if (isDone) onClear();
  }

  return (
    <section className={classes.selection} aria-label={texts.selection}>
      <div>
        <Text fw={600} aria-live="polite">
          {texts.selected(slides.length)}
        </Text>
        {slides.length === maxImagesAtOnce && all > maxImagesAtOnce && (
          <Text size="sm">{texts.mostAtOnce(maxImagesAtOnce)}</Text>
        )}
      </div>
      <Group gap="xs">
        {present.length > 0 && (
          <>
            <Button
              size="compact-md"
              variant="default"
              onClick={() => onAsk({ kind: 'move', slides: present })}
            >
              {texts.move}
            </Button>
            <Button
              size="compact-md"
              variant="default"
              onClick={() => onAsk({ kind: 'organ', slides: present })}
            >
              {texts.setOrgan}
            </Button>
          </>
        )}
        {quickActions
          .filter((action) => changedBy(action, slides).length > 0)
          .map((action) => (
            <Button
              key={action}
              size="compact-md"
              variant="default"
              loading={running === action}
              disabled={running !== null}
              onClick={() => void run(action)}
            >
              {texts[action]}
            </Button>
          ))}
        {present.length > 0 && (
          <Button
            size="compact-md"
            color="eosin"
            variant="light"
            onClick={() => onAsk({ kind: 'remove', slides: present })}
          >
            {texts.remove}
          </Button>
        )}
        {shown < most && (
          <Button size="compact-md" variant="subtle" onClick={onSelectMore}>
            {texts.selectMore(most)}
          </Button>
        )}
        <Button size="compact-md" variant="subtle" onClick={onClear}>
          {texts.clearSelection}
        </Button>
      </Group>
    </section>
  );
}
