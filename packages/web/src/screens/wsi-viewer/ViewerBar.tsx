import { ActionIcon, Button, Tooltip } from '@mantine/core';
import {
  IconChartBar,
  IconColumns2,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconLink,
  IconRefresh,
  IconUnlink,
} from '@tabler/icons-react';
import type { ImageSessionState } from '../../api/image-sessions.ts';
import { texts } from './texts.ts';
import classes from './WsiViewer.module.css';

const iconSizePx = 20;
const iconButtonSizePx = 40;

/**
 * The status of the image session (the credential for loading pixels) as the bar shows it. `doubtful`: the session is active, but
 * tiles of the current view failed to load; the bar shows the text of `active` in another colour.
 */
export type ShownStatus = ImageSessionState['status'] | 'doubtful';

interface ViewerBarProps {
  readonly status: ShownStatus;
  /** Name of the viewed slide; null when the viewer shows no slide or two slides. */
  readonly title: string | null;
  /**
   * Null without a comparison. `isLinked` says whether the compared slides move together; it is null until the user has selected the
   * second slide.
   */
  readonly comparison: { readonly isLinked: boolean | null } | null;
  readonly canCompare: boolean;
  readonly onToggleComparison: () => void;
  readonly onToggleLink: () => void;
  readonly isCatalogOpen: boolean;
  readonly areStatsOpen: boolean;
  readonly onToggleCatalog: () => void;
  readonly onRefreshSession: () => void;
  readonly onToggleStats: () => void;
}

/** The bar above the slide: buttons for the catalogue and the comparison, and the image session with its statistics. */
export function ViewerBar(props: ViewerBarProps) {
  const catalogLabel = props.isCatalogOpen ? texts.hideCatalog : texts.showCatalog;
  const statsLabel = props.areStatsOpen ? texts.hideStats : texts.showStats;
  const CatalogIcon = props.isCatalogOpen ? IconLayoutSidebarLeftCollapse : IconLayoutSidebarLeftExpand;
  const isLinked = props.comparison?.isLinked ?? null;
  const linkLabel = isLinked ? texts.unlink : texts.link;
  const LinkIcon = isLinked ? IconUnlink : IconLink;
  return (
    <div className={classes.bar}>
      <Tooltip label={catalogLabel}>
        <ActionIcon
          variant="subtle"
          size={iconButtonSizePx}
          aria-label={catalogLabel}
          onClick={props.onToggleCatalog}
        >
          <CatalogIcon size={iconSizePx} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <span className={classes.barTitle}>{props.title}</span>
      {isLinked !== null && (
        <Button
          className={classes.button ?? ''}
          variant="default"
          size="sm"
          aria-label={linkLabel}
          title={isLinked ? texts.unlinkHint : texts.linkHint}
          leftSection={<LinkIcon size={iconSizePx} aria-hidden />}
          onClick={props.onToggleLink}
        >
          <span className={classes.buttonText}>{linkLabel}</span>
        </Button>
      )}
      <Button
        className={classes.button ?? ''}
        variant={props.comparison === null ? 'default' : 'filled'}
        size="sm"
        aria-label={texts.compare}
        aria-pressed={props.comparison !== null}
        title={texts.compareHint}
        leftSection={<IconColumns2 size={iconSizePx} aria-hidden />}
        disabled={!props.canCompare}
        onClick={props.onToggleComparison}
      >
        <span className={classes.buttonText}>{texts.compare}</span>
      </Button>
      <span className={classes.session} role="status">
        <span className={classes.sessionLabel}>{texts.session}</span>
        <span className={classes.sessionStatus} data-status={props.status}>
          {texts.sessionStatus[props.status === 'doubtful' ? 'active' : props.status]}
        </span>
      </span>
      <Button
        className={classes.button ?? ''}
        variant="default"
        size="sm"
        aria-label={texts.refreshSession}
        leftSection={<IconRefresh size={iconSizePx} aria-hidden />}
        disabled={props.status === 'refreshing'}
        onClick={props.onRefreshSession}
      >
        <span className={classes.buttonText}>{texts.refreshSession}</span>
      </Button>
      <Tooltip label={statsLabel}>
        <ActionIcon
          variant="subtle"
          size={iconButtonSizePx}
          aria-label={statsLabel}
          onClick={props.onToggleStats}
        >
          <IconChartBar size={iconSizePx} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
