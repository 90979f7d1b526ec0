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

const stateColours: Readonly<Record<SlideState, string>> = {
  ready: 'haematoxylin',
  pending: 'gray',
  failed: 'eosin',
  missing: 'eosin',
  removed: 'gray',
};

/** The row of one slide in the table: its properties, its state and a menu with its actions. */
export function SlideRow({ slide, rowProps, isSelected, onSelect, onOpenDialog }: SlideRowProps) {
  const { id, file_name: name, organ_type: organ, format, size_bytes: size, error, hidden } = slide;
  const { metadata_hold: hold } = slide; // why the last scan did not apply the metadata files to the slide
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
              {organ ?? texts.noOrgan}
            </Text>
          </div>
        </div>
      </td>
      <td className={classes.state}>
        <Badge color={stateColours[state]} variant="light">
          {stateLabels[state]}
        </Badge>{' '}
        {hidden && (
          <Badge color="eosin" variant="outline">
            {stateLabels.hidden}
          </Badge>
        )}
        {state === 'failed' && error !== null && (
          <Text size="sm" className={classes.reason ?? ''}>
            <SlideError error={error} code={slide.error_code} languageWhenMixed="tr" />
          </Text>
        )}
        {hold !== null && (
          <Text size="sm" className={classes.reason ?? ''}>
            {hold.kind === 'kept' ? texts.kept(hold.dataset ?? texts.noDataset) : texts.waiting}
          </Text>
        )}
      </td>
      <Cell label={texts.format}>{format}</Cell>
      <Cell label={texts.size}>{formatBytes(size)}</Cell>
      <Cell label={texts.scale}>{scaleOf(slide)}</Cell>
      <td className={classes.menu}>
        <RowMenu slide={slide} onOpenDialog={onOpenDialog} />
      </td>
    </tr>
  );
}

/** A cell that shows "unknown" for null. On narrow screens, where rows become cards, CSS hides it when it is empty. */
function Cell({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <td data-label={label} data-empty={children === null || undefined}>
      {children ?? <span className={classes.nothing}>{texts.unknown}</span>}
    </td>
  );
}

function scaleOf({
  mpp_x: mpp,
  mpp_derived: isDerived,
  scale_entered: isEntered,
}: ManagedImage): string | null {
  if (mpp === null) return null;
  const value = texts.micrometres(mpp);
  const estimated = isDerived ? texts.estimated(value) : value;
  return isEntered ? texts.entered(estimated) : estimated;
}

const icons: Readonly<Record<QuickAction, typeof IconEye>> = {
  hide: IconEyeOff,
  show: IconEye,
  readAgain: IconRefresh,
  bringBack: IconRestore,
};
const quickActions: readonly QuickAction[] = ['hide', 'show', 'readAgain', 'bringBack'];

function RowMenu({ slide, onOpenDialog }: Pick<SlideRowProps, 'slide' | 'onOpenDialog'>) {
  const state = stateOf(slide);
  const button = useRef<HTMLButtonElement>(null);

  /** Focuses the menu button first: a closing dialog returns the focus to where it was, and the menu item no longer exists by then. */
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
            const Icon = icons[action];
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
