import { ActionIcon, Button, Tooltip } from '@mantine/core';
import {
  IconChartBar,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconRefresh,
} from '@tabler/icons-react';
import type { ImageSessionState } from '../../api/image-sessions.ts';
import { texts } from './texts.ts';
import classes from './WsiViewer.module.css';

const iconSize = 20;

interface ViewerBarProps {
  readonly status: ImageSessionState['status'];
  /** Name of what is viewed; null when nothing is. */
  readonly title: string | null;
  readonly isCatalogOpen: boolean;
  readonly areStatsOpen: boolean;
  readonly onToggleCatalog: () => void;
  readonly onRefreshSession: () => void;
  readonly onToggleStats: () => void;
}

/** The bar above the slide: the catalogue's door, the image session, its statistics. */
export function ViewerBar(props: ViewerBarProps) {
  const catalogLabel = props.isCatalogOpen ? texts.hideCatalog : texts.showCatalog;
  const statsLabel = props.areStatsOpen ? texts.hideStats : texts.showStats;
  const CatalogIcon = props.isCatalogOpen ? IconLayoutSidebarLeftCollapse : IconLayoutSidebarLeftExpand;
  return (
    <div className={classes.bar}>
      <Tooltip label={catalogLabel}>
        <ActionIcon variant="subtle" size={40} aria-label={catalogLabel} onClick={props.onToggleCatalog}>
          <CatalogIcon size={iconSize} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <span className={classes.barTitle}>{props.title}</span>
      <span className={classes.session} role="status">
        <span className={classes.sessionLabel}>{texts.session}</span>
        <span className={classes.sessionStatus} data-status={props.status}>
          {texts.sessionStatus[props.status]}
        </span>
      </span>
      <Button
        className={classes.refresh ?? ''}
        variant="default"
        size="sm"
        aria-label={texts.refreshSession}
        leftSection={<IconRefresh size={iconSize} aria-hidden />}
        disabled={props.status === 'refreshing'}
        onClick={props.onRefreshSession}
      >
        <span className={classes.refreshText}>{texts.refreshSession}</span>
      </Button>
      <Tooltip label={statsLabel}>
        <ActionIcon variant="subtle" size={40} aria-label={statsLabel} onClick={props.onToggleStats}>
          <IconChartBar size={iconSize} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
