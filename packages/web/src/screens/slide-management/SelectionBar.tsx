import { type ManagedImage, maxImagesAtOnce } from '@lamina/contract';
import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { applyQuickAction } from './apply-quick-action.ts';
import type { DialogRequest } from './dialog-request.ts';
import classes from './SlideManagement.module.css';
import { type QuickAction, slidesChangedBy, stateOf } from './slide-state.ts';
import { texts } from './texts.ts';

interface SelectionBarProps {
  /** The selected slides; not empty. */
  readonly slides: readonly ManagedImage[];
  /** Number of slides that the list has loaded. */
  readonly loadedCount: number;
  /** Number of slides that match the filter, loaded or not. */
  readonly matchingCount: number;
  /** Selects the first `maxImagesAtOnce` matching slides, and loads those that are not loaded yet. */
  readonly onSelectMore: () => void;
  readonly onClear: () => void;
  readonly onOpenDialog: (request: DialogRequest) => void;
}

/** Actions without a dialog, in the order of their buttons. */
const quickActions: readonly QuickAction[] = ['hide', 'show', 'reingest', 'restore'];

/** Bar with the actions on all selected slides of the slide list. It stays visible while the list is scrolled. */
export function SelectionBar(props: SelectionBarProps) {
  const { slides, loadedCount, matchingCount, onSelectMore, onClear, onOpenDialog } = props;
  const [runningAction, setRunningAction] = useState<QuickAction | null>(null);
  /** The server changes at most `maxImagesAtOnce` slides per request. */
  const maxSelectable = Math.min(matchingCount, maxImagesAtOnce);
  /** The selected slides that are not removed from the catalogue; only these can be moved, given another organ, or removed. */
  const presentSlides = slides.filter((slide) => stateOf(slide) !== 'removed');

  async function run(action: QuickAction) {
    setRunningAction(action);
    const hasSucceeded = await applyQuickAction(action, slidesChangedBy(action, slides));
    setRunningAction(null);
    if (hasSucceeded) onClear();
  }

  return (
    <section className={classes.selection} aria-label={texts.selection}>
      <div>
        <Text fw={600} aria-live="polite">
          {texts.selected(slides.length)}
        </Text>
        {slides.length === maxImagesAtOnce && matchingCount > maxImagesAtOnce && (
          <Text size="sm">{texts.mostAtOnce(maxImagesAtOnce)}</Text>
        )}
      </div>
      <Group gap="xs">
        {presentSlides.length > 0 && (
          <>
            <Button
              size="compact-md"
              variant="default"
              onClick={() => onOpenDialog({ kind: 'move', slides: presentSlides })}
            >
              {texts.move}
            </Button>
            <Button
              size="compact-md"
              variant="default"
              onClick={() => onOpenDialog({ kind: 'organ', slides: presentSlides })}
            >
              {texts.setOrgan}
            </Button>
          </>
        )}
        {quickActions
          .filter((action) => slidesChangedBy(action, slides).length > 0)
          .map((action) => (
            <Button
              key={action}
              size="compact-md"
              variant="default"
              loading={runningAction === action}
              disabled={runningAction !== null}
              onClick={() => void run(action)}
            >
              {texts[action]}
            </Button>
          ))}
        {presentSlides.length > 0 && (
          <Button
            size="compact-md"
            color="eosin" // the theme's rose, named after the stain
            variant="light"
            onClick={() => onOpenDialog({ kind: 'remove', slides: presentSlides })}
          >
            {texts.remove}
          </Button>
        )}
        {/* When the list has loaded enough slides, the checkbox in the head of the table selects as many. */}
        {loadedCount < maxSelectable && (
          <Button size="compact-md" variant="subtle" onClick={onSelectMore}>
            {texts.selectMore(maxSelectable)}
          </Button>
        )}
        <Button size="compact-md" variant="subtle" onClick={onClear}>
          {texts.clearSelection}
        </Button>
      </Group>
    </section>
  );
}
