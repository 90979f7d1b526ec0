import type { ManagedImage } from '@lamina/contract';
import { ActionIcon, Badge, Checkbox, Menu, Text } from '@mantine/core';
import {
  IconDotsVertical,
  IconEye,
  IconEyeOff,
  IconFolder,
  IconHistory,
  IconMicroscope,
  IconPencil,
  IconRefresh,
  IconRestore,
  IconTrash,
} from '@tabler/icons-react';
import { type ReactNode, type Ref, useRef } from 'react';
import { Link } from 'react-router';
import { useImageSession } from '../../api/image-sessions.ts';
import { SlideError } from '../../components/slide-error/SlideError.tsx';
import { formatBytes } from '../../formatting/format-bytes.ts';
import { applyQuickAction } from './apply-quick-action.ts';
import type { DialogRequest } from './dialog-request.ts';
import classes from './SlideManagement.module.css';
import { SlideThumbnail } from './SlideThumbnail.tsx';
import { type QuickAction, type SlideState, slidesChangedBy, stateOf } from './slide-state.ts';
import { stateLabels, texts } from './texts.ts';

interface SlideRowProps {
  readonly slide: ManagedImage;
  /** Attributes and ref with which the virtual list identifies and measures the row. */
  readonly rowProps: {
    readonly 'data-index': number;
    readonly 'aria-rowindex': number;
    readonly ref: Ref<HTMLTableRowElement>;
  };
  readonly isSelected: boolean;
  readonly onSelect: (isSelected: boolean) => void;
  readonly onOpenDialog: (request: DialogRequest) => void;
}

/** Colours of the theme: haematoxylin is blue-purple, eosin is rose (as in stained tissue). */
const stateColours: Readonly<Record<SlideState, string>> = {
  ready: 'haematoxylin',
  pending: 'gray',
  failed: 'eosin',
  missing: 'eosin',
  removed: 'gray',
};

/** The row of one slide in the table of the slides screen: its properties, its state and a menu with its actions. */
export function SlideRow({ slide, rowProps, isSelected, onSelect, onOpenDialog }: SlideRowProps) {
  const { id, file_name: name, error } = slide;
  /**
   * Why metadata files (such as `catalogue.csv`) are not applied to the slide; null when they are applied. `kept`: the slide stays in its
   * dataset, because more users could view it in the dataset that the files name (`metadataHold.dataset`). `waiting`: the slide is hidden
   * until an invalid file is corrected.
   */
  const metadataHold = slide.metadata_hold;
  const session = useImageSession().id;
  const state = stateOf(slide);
  return (
    <tr
      className={classes.row}
      data-selected={isSelected || undefined}
      aria-selected={isSelected}
      {...rowProps}
    >
      <td className={classes.check}>
        <Checkbox
          aria-label={texts.select(name)}
          checked={isSelected}
          onChange={({ currentTarget }) => onSelect(currentTarget.checked)}
        />
      </td>
      <td>
        <div className={classes.slide}>
          <SlideThumbnail imageId={id} session={state === 'ready' ? session : null} />
          <div className={classes.names}>
            <span className={classes.name}>{name}</span>
            <Text size="sm" c="dimmed">
              {slide.organ_type ?? texts.noOrgan}
            </Text>
          </div>
        </div>
      </td>
      <td className={classes.state}>
        <Badge color={stateColours[state]} variant="light">
          {stateLabels[state]}
        </Badge>{' '}
        {slide.hidden && (
          <Badge color="eosin" variant="outline">
            {stateLabels.hidden}
          </Badge>
        )}
        {state === 'failed' && error !== null && (
          <Text size="sm" className={classes.reason ?? ''}>
            <SlideError error={error} code={slide.error_code} languageBeforeChoice="tr" />
          </Text>
        )}
        {metadataHold !== null && (
          <Text size="sm" className={classes.reason ?? ''}>
            {metadataHold.kind === 'kept'
              ? texts.kept(metadataHold.dataset ?? texts.noDataset)
              : texts.waiting}
          </Text>
        )}
      </td>
      <Cell label={texts.format}>{slide.format}</Cell>
      <Cell label={texts.size}>{formatBytes(slide.size_bytes)}</Cell>
      <Cell label={texts.scale}>{scaleTextOf(slide)}</Cell>
      <td className={classes.menu}>
        <RowMenu slide={slide} onOpenDialog={onOpenDialog} />
      </td>
    </tr>
  );
}

/** A cell that shows "unknown" for null. On narrow screens, where rows become cards, CSS hides the cells whose value is null. */
function Cell({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <td data-label={label} data-empty={children === null || undefined}>
      {children ?? <span className={classes.nothing}>{texts.unknown}</span>}
    </td>
  );
}

/** Returns the pixel size with marks for an estimated value and for one that an administrator entered; null when it is unknown. */
function scaleTextOf({ mpp_x, mpp_derived, scale_entered }: ManagedImage): string | null {
  if (mpp_x === null) return null;
  const pixelSize = texts.micrometres(mpp_x);
  const markedPixelSize = mpp_derived ? texts.estimated(pixelSize) : pixelSize;
  return scale_entered ? texts.entered(markedPixelSize) : markedPixelSize;
}

const actionIcons: Readonly<Record<QuickAction, typeof IconEye>> = {
  hide: IconEyeOff,
  show: IconEye,
  reingest: IconRefresh,
  restore: IconRestore,
};
/** Actions without a dialog, in the order of the menu. */
const quickActions: readonly QuickAction[] = ['hide', 'show', 'reingest', 'restore'];

/** The menu with the actions that are possible in the state of the slide. */
function RowMenu({ slide, onOpenDialog }: Pick<SlideRowProps, 'slide' | 'onOpenDialog'>) {
  const state = stateOf(slide);
  const button = useRef<HTMLButtonElement>(null);

  /**
   * Focuses the menu button before the dialog opens. When the dialog closes, it returns the focus to the element that had the focus
   * before; the chosen menu item no longer exists then.
   */
  function openDialog(kind: DialogRequest['kind']) {
    button.current?.focus();
    onOpenDialog({ kind, slides: [slide] });
  }

  return (
    <Menu position="bottom-end" shadow="md" withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon ref={button} variant="subtle" size="lg" aria-label={texts.actionsOf(slide.file_name)}>
          <IconDotsVertical size={20} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {state === 'ready' && (
          <Menu.Item
            component={Link}
            to={`/wsi-viewer?image=${slide.id}`}
            leftSection={<IconMicroscope size={18} aria-hidden />}
          >
            {texts.open}
          </Menu.Item>
        )}
        {state !== 'removed' && state !== 'missing' && (
          <Menu.Item leftSection={<IconPencil size={18} aria-hidden />} onClick={() => openDialog('edit')}>
            {texts.edit}
          </Menu.Item>
        )}
        {state !== 'removed' && (
          <Menu.Item leftSection={<IconFolder size={18} aria-hidden />} onClick={() => openDialog('move')}>
            {texts.move}
          </Menu.Item>
        )}
        {quickActions
          .filter((action) => slidesChangedBy(action, [slide]).length > 0)
          .map((action) => {
            const Icon = actionIcons[action];
            return (
              <Menu.Item
                key={action}
                leftSection={<Icon size={18} aria-hidden />}
                onClick={() => void applyQuickAction(action, [slide])}
              >
                {texts[action]}
              </Menu.Item>
            );
          })}
        <Menu.Item
          component={Link}
          to={`/admin/audit?target=${slide.id}`}
          leftSection={<IconHistory size={18} aria-hidden />}
        >
          {texts.records}
        </Menu.Item>
        {state !== 'removed' && (
          <Menu.Item
            c="var(--mantine-color-error)"
            leftSection={<IconTrash size={18} aria-hidden />}
            onClick={() => openDialog('remove')}
          >
            {texts.remove}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
