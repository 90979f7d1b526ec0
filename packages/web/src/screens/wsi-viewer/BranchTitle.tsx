import { VisuallyHidden } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { branchOf, type CaseGroup, type CaseLine, type DatasetGroup, type GroupLine } from './catalogue.ts';
import classes from './ImageCatalog.module.css';
import { texts } from './texts.ts';

interface BranchTitleProps {
  readonly line: GroupLine | CaseLine;
  /** Written to the attribute `data-line`, by which the list finds the button to focus. */
  readonly lineKey: string;
  /** Whether the Tab key focuses this title. */
  readonly isTabStop: boolean;
  readonly onToggle: (branch: DatasetGroup | CaseGroup, isOpen: boolean) => void;
}

/** Title of a group (one per dataset) or a case in the catalogue, with its number of images; a click opens or closes the list below. */
export function BranchTitle({ line, lineKey, isTabStop, onToggle }: BranchTitleProps) {
  const isCase = line.kind === 'case';
  const branch = branchOf(line);
  const Heading = isCase ? 'h3' : 'h2';
  return (
    <Heading className={isCase ? classes.caseTitle : classes.groupTitle}>
      <button
        type="button"
        className={classes.groupButton}
        data-line={lineKey}
        tabIndex={isTabStop ? 0 : -1}
        aria-expanded={line.isOpen}
        onClick={() => onToggle(branch, !line.isOpen)}
      >
        <IconChevronRight className={classes.chevron} size={18} aria-hidden />
        {isCase && <VisuallyHidden>{texts.case}</VisuallyHidden>}{' '}
        <span className={classes.groupName} title={branch.name}>
          {branch.name}
        </span>{' '}
        <span className={classes.count}>
          {branch.count} <VisuallyHidden>{texts.images}</VisuallyHidden>
        </span>
      </button>
    </Heading>
  );
}
